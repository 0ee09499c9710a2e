// Take back what chunks said about entities.
// :param {rows: [{chunk_id: 'c', keys: ['k']}]}
UNWIND $rows AS row
MATCH (chunk:Chunk {id: row.chunk_id})
MATCH (entity:__Entity__)-[mention:FROM_CHUNK]->(chunk)
WHERE entity.key IN row.keys
DELETE mention
