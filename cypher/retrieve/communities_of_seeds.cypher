// The communities that the entities of seed chunks are in: for each seed up to $entities entities (rarest first), and of each entity its
// community of $level, or the finest one above it where it is in none so fine.
// Parameters: $graph, $seeds ids, $vector the question's vector, $level, $entities.
// Returns seed, key, level, label, content, shared (how many of the seed's entities are in it), similarity in [0, 1].
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', seeds: ['c'], vector: [0.1, 0.2], level: 1, entities: 20, documents: null}
UNWIND $seeds AS seed
MATCH (s:Chunk {id: seed})
CALL (s) {
  MATCH (s)<-[:FROM_CHUNK]-(e:__Entity__)
  WHERE e.graph = $graph
  WITH DISTINCT e ORDER BY e.mentions, e.key LIMIT $entities
  RETURN collect(e) AS entities
}
UNWIND entities AS e
MATCH (e)-[:IN_COMMUNITY]->(c:__Community__)
WHERE c.level <= $level
WITH s, e, c ORDER BY c.level DESC, c.key
WITH s, e, collect(c)[0] AS c
WITH s, c, count(e) AS shared, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WHERE c.full_content IS NOT NULL
  AND ($documents IS NULL OR NOT EXISTS { MATCH (c)<-[:IN_COMMUNITY]-(:__Entity__)-[:FROM_CHUNK]->(x:Chunk) WHERE NOT x.document_id IN $documents })
RETURN s.id AS seed, c.key AS key, c.level AS level, c.label AS label, c.full_content AS content, shared,
       (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY seed, key
