// The communities of one level of a graph that are nearest to the question.
// Parameters: $graph, $vector the question's vector, $level (a community above it that has none below counts as of that level), $limit.
// All of them are compared: a graph has some hundred, a large one some thousand.
// Returns key, level, label, content, similarity in [0, 1], best first.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', vector: [0.1, 0.2], level: 1, limit: 5, documents: null}
MATCH (c:__Community__)
WHERE c.graph = $graph AND c.level <= $level AND c.embedding IS NOT NULL
  AND ($documents IS NULL OR NOT EXISTS { MATCH (c)<-[:IN_COMMUNITY]-(:__Entity__)-[:FROM_CHUNK]->(x:Chunk) WHERE NOT x.document_id IN $documents })
OPTIONAL MATCH (c)<-[:PARENT_COMMUNITY]-(child:__Community__)
WITH c, count(child) AS children
WHERE c.level = $level OR children = 0
WITH c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
RETURN c.key AS key, c.level AS level, c.label AS label, c.full_content AS content, similarity
ORDER BY similarity DESC, key
LIMIT $limit
