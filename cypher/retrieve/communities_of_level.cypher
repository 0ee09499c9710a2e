// The communities of one level of a graph that something is written about, the largest first.
// Parameters: $graph, $vector the question's vector, $level (a community above it that has none below counts as of that level).
// Returns key, label, content, size, similarity in [0, 1].
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', vector: [0.1, 0.2], level: 0, documents: null}
MATCH (c:__Community__)
WHERE c.graph = $graph AND c.level <= $level AND c.embedding IS NOT NULL
  AND ($documents IS NULL OR NOT EXISTS { MATCH (c)<-[:IN_COMMUNITY]-(:__Entity__)-[:FROM_CHUNK]->(x:Chunk) WHERE NOT x.document_id IN $documents })
OPTIONAL MATCH (c)<-[:PARENT_COMMUNITY]-(child:__Community__)
WITH c, count(child) AS children
WHERE c.level = $level OR children = 0
WITH c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
RETURN c.key AS key, c.label AS label, c.full_content AS content, c.size AS size,
       (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY size DESC, key
