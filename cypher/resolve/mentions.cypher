// Which chunks name entities, and how.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
MATCH (entity)-[mention:FROM_CHUNK]->(chunk:Chunk)
RETURN entity.key AS key, chunk.id AS chunk_id, mention.name AS name, mention.role AS role, mention.description AS description, coalesce(mention.says, []) AS says
