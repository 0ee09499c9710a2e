// What an answer rests on: the entities that some chunks mention, those of most of the chunks first, then the best known of them.
// Parameters: $graph, $chunks ids, $limit.
// Returns key, name, type, mentions (in all chunks), chunks (ids of those of $chunks that mention it, sorted).
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', chunks: ['c'], limit: 20, documents: null}
MATCH (e:__Entity__)-[said:FROM_CHUNK]->(c:Chunk)
WHERE c.id IN $chunks AND e.graph = $graph AND ($documents IS NULL OR c.document_id IN $documents)
WITH e, c ORDER BY c.id
WITH e, collect(DISTINCT c.id) AS chunks
RETURN e.key AS key, e.name AS name, e.type AS type, e.mentions AS mentions, chunks
ORDER BY size(chunks) DESC, mentions, name, key
LIMIT $limit
