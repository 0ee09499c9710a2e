// The relations between some entities of a graph, best supported first; SIMILAR and __PREDICTED__ are none.
// Parameters: $keys of entities, $limit.
// Returns head and tail (keys), type, description, weight, chunks.
// Only what $documents (ids; null: all) have is read; of relations what their chunks $readable (ids; null: all) say.
// :param {keys: ['k'], limit: 60, documents: null, readable: null}
MATCH (head:__Entity__)-[r]->(tail:__Entity__)
WHERE head.key IN $keys AND NOT type(r) IN ['SIMILAR', '__PREDICTED__']
// Looked at when the relation is there: two seeks by key would be joined each with each.
WITH head, r, tail
WHERE tail.key IN $keys
  AND ($readable IS NULL OR any(id IN r.chunks WHERE id IN $readable))
RETURN head.key AS head, tail.key AS tail, type(r) AS type, CASE WHEN $readable IS NULL THEN r.description ELSE [i IN range(0, size(r.chunks) - 1) WHERE r.chunks[i] IN $readable | r.descriptions[i]][0] END AS description, r.weight AS weight, [id IN r.chunks WHERE $readable IS NULL OR id IN $readable] AS chunks
ORDER BY weight DESC, head, tail, type
LIMIT $limit
