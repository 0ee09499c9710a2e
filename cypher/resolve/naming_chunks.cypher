// For each of some entities the chunk that names it, the first by id.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
MATCH (entity)-[:FROM_CHUNK]->(chunk:Chunk)
RETURN entity.key AS key, min(chunk.id) AS chunk_id
