// Every chunk with the entities of a graph that it mentions, as a random walk needs them.
// Parameters: $graph.
// Returns id, document_id, position, entities (keys) and roles (parallel to them).
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', documents: null}
MATCH (c:Chunk)
WHERE ($documents IS NULL OR c.document_id IN $documents)
OPTIONAL MATCH (c)<-[said:FROM_CHUNK]-(e:__Entity__)
WHERE e.graph = $graph
RETURN c.id AS id, c.document_id AS document_id, c.position AS position, collect(e.key) AS entities, collect(said.role) AS roles
ORDER BY id
