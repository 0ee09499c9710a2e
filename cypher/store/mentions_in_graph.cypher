// What some chunks say in one graph.
// :param {chunk_ids: ['c'], graph: 'mention'}
MATCH (chunk:Chunk)
WHERE chunk.id IN $chunk_ids
MATCH (entity:`GRAPH_LABEL`)-[mention:FROM_CHUNK]->(chunk)
RETURN entity.key AS key, chunk.id AS chunk_id, mention.name AS name, mention.role AS role, mention.description AS description, coalesce(mention.says, []) AS says
