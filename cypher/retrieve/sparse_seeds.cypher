// The chunks whose shown text matches the question's words best (BM25), by the full-text index.
// Parameters: $index name of the full-text index, $query escaped Lucene query, $vector the question's vector, $limit.
// Returns id, score (BM25) and similarity in [0, 1], (1 + cosine) / 2, best first. Neo4j's vector.similarity.cosine gives that already,
// ArcadeDB's gives the cosine itself: the similarity of two opposite vectors says which.
CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score
WITH node, score ORDER BY score DESC, node.id LIMIT $limit
WITH node, score, vector.similarity.cosine([1.0], [-1.0]) AS opposite
RETURN node.id AS id, score, (vector.similarity.cosine(node.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY score DESC, id
