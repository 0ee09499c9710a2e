// The chunks whose vectors are nearest to the question's, by the vector index.
// Parameters: $index name of the vector index, $vector the question's vector, $limit how many are wanted, $candidates how many the index is
// asked for (more than wanted: an approximate index finds the true neighbours only then).
// Returns one row: rows [{id, similarity in [0, 1], (1 + cosine) / 2, document, position}], best first.
// Only what $documents (ids; null: all) have is read.
// :param {index: 'chunk_embedding', vector: [0.1, 0.2], limit: 10, candidates: 50, documents: null}
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node, score
WHERE ($documents IS NULL OR node.document_id IN $documents)
WITH node, score ORDER BY score DESC, node.id LIMIT $limit
RETURN collect({id: node.id, similarity: score, document_id: node.document_id, position: node.position}) AS rows
