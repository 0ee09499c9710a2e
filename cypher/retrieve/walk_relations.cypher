// Every relation of a graph, SIMILAR included and __PREDICTED__ left out, as a random walk needs them.
// Parameters: $graph.
// Returns head and tail (keys), their names, type, description, weight, score (of SIMILAR).
// Only what $documents (ids; null: all) have is read; of relations what their chunks $readable (ids; null: all) say.
// :param {graph: 'mention', documents: null, readable: null}
MATCH (head:__Entity__)-[r]->(tail:__Entity__)
WHERE head.graph = $graph AND type(r) <> '__PREDICTED__'
  AND ($readable IS NULL OR any(id IN r.chunks WHERE id IN $readable)
    OR (type(r) = 'SIMILAR' AND EXISTS { MATCH (head)-[:FROM_CHUNK]->(x:Chunk) WHERE x.document_id IN $documents }
      AND EXISTS { MATCH (tail)-[:FROM_CHUNK]->(y:Chunk) WHERE y.document_id IN $documents }))
RETURN head.key AS head, tail.key AS tail, head.name AS head_name, tail.name AS tail_name, type(r) AS type, CASE WHEN $readable IS NULL THEN r.description ELSE [i IN range(0, coalesce(size(r.chunks), 0) - 1) WHERE r.chunks[i] IN $readable | r.descriptions[i]][0] END AS description,
       r.weight AS weight, r.score AS score
ORDER BY head, tail, type
