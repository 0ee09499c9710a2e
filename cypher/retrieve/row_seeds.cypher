// The chunks of whose tables a row says what is nearest to the question, by the vector index of rows.
// Parameters: $index name of the vector index, $vector the question's vector, $limit how many chunks are wanted, $candidates how many rows
// the index is asked for.
// Returns id, similarity in [0, 1], (1 + cosine) / 2, document and position of the chunk, and what its nearest row says, best first.
// Only what $documents (ids; null: all) have is read.
// :param {index: 'table_row_embedding', vector: [0.1, 0.2], limit: 10, candidates: 50, documents: null}
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node, score
MATCH (node)-[:ROW_OF]->(chunk:Chunk)
WHERE ($documents IS NULL OR chunk.document_id IN $documents)
WITH node, score, chunk ORDER BY score DESC, node.id
WITH chunk, max(score) AS similarity, collect(node.text)[0] AS said
RETURN chunk.id AS id, similarity, chunk.document_id AS document_id, chunk.position AS position, said
ORDER BY similarity DESC, id
LIMIT $limit
