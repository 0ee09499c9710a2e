// What some chunks say in any graph.
// Returns one row: rows [{key, chunk_id, name, role, description, says}].
// :param {chunk_ids: ['c']}
MATCH (chunk:Chunk)
WHERE chunk.id IN $chunk_ids
MATCH (entity:__Entity__)-[mention:FROM_CHUNK]->(chunk)
RETURN collect({key: entity.key, chunk_id: chunk.id, name: mention.name, role: mention.role, description: mention.description,
                says: coalesce(mention.says, [])}) AS rows
