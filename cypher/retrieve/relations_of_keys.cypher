// The relations between some entities of a graph, best supported first; SIMILAR is none.
// Parameters: $keys of entities, $limit.
// Returns head and tail (keys), type, description, weight, chunks.
// :param {keys: ['k'], limit: 60}
MATCH (head:__Entity__)-[r]->(tail:__Entity__)
WHERE head.key IN $keys AND tail.key IN $keys AND type(r) <> 'SIMILAR'
RETURN head.key AS head, tail.key AS tail, type(r) AS type, r.description AS description, r.weight AS weight, r.chunks AS chunks
ORDER BY weight DESC, head, tail, type
LIMIT $limit
