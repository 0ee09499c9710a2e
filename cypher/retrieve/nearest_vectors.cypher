// The vectors of the chunks that are nearest to the question's vector.
// Parameters: $index name of the vector index, $vector, $limit how many are wanted, $candidates how many the index is asked for.
// Returns id and embedding, best first.
// Only what $documents (ids; null: all) have is read.
// :param {index: 'chunk_embedding', vector: [0.1, 0.2], limit: 5, candidates: 25, documents: null}
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node, score
WHERE ($documents IS NULL OR node.document_id IN $documents)
WITH node, score ORDER BY score DESC, node.id LIMIT $limit
RETURN node.id AS id, node.embedding AS embedding
