// What an answer rests on: the entities that some chunks mention, those of most of the chunks first, then the best known of them.
// Parameters: $graph, $chunks ids, $limit.
// Returns key, name, type, mentions (in all chunks), chunks (ids of those of $chunks that mention it, sorted).
// :param {graph: 'mention', chunks: ['c'], limit: 20}
MATCH (e:__Entity__)-[said:FROM_CHUNK]->(c:Chunk)
WHERE c.id IN $chunks AND e.graph = $graph
WITH e, c ORDER BY c.id
WITH e, collect(DISTINCT c.id) AS chunks
RETURN e.key AS key, e.name AS name, e.type AS type, e.mentions AS mentions, chunks
ORDER BY size(chunks) DESC, mentions, name, key
LIMIT $limit
