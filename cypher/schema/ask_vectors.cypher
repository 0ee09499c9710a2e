// Any question to a vector index, so that it is ready for the next.
// :param {index: 'chunk_embedding', vector: [1.0, 0.0]}
CALL db.index.vector.queryNodes($index, 1, $vector) YIELD node
RETURN count(node) AS found
