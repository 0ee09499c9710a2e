// What some chunks say in any graph.
// :param {chunk_ids: ['c']}
MATCH (chunk:Chunk)
WHERE chunk.id IN $chunk_ids
MATCH (entity:__Entity__)-[mention:FROM_CHUNK]->(chunk)
RETURN entity.key AS key, chunk.id AS chunk_id, mention.name AS name, mention.role AS role, mention.description AS description, coalesce(mention.says, []) AS says
