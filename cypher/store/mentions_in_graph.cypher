// What some chunks say in one graph.
// Returns one row: rows [{key, chunk_id, name, role, description, says}].
// :param {chunk_ids: ['c'], graph: 'mention'}
MATCH (chunk:Chunk)
WHERE chunk.id IN $chunk_ids
MATCH (entity:`GRAPH_LABEL`)-[mention:FROM_CHUNK]->(chunk)
RETURN collect({key: entity.key, chunk_id: chunk.id, name: mention.name, role: mention.role, description: mention.description,
                says: coalesce(mention.says, [])}) AS rows
