// Which chunk names which entity, for the digest.
MATCH (entity:__Entity__)-[relationship:FROM_CHUNK]->(chunk:Chunk)
RETURN entity.key AS source, chunk.id AS target, properties(relationship) AS properties
