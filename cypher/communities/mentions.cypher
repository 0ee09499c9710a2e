// Which chunks name which entities of a graph.
// :param {graph: 'mention'}
MATCH (entity:`GRAPH_LABEL`)-[:FROM_CHUNK]->(chunk:Chunk)
RETURN entity.key AS key, chunk.id AS chunk_id
