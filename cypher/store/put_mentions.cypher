// Connect entities with the chunks that name them.
// :param {rows: [{key: 'k', chunk_id: 'c', properties: {name: 'X-100', role: 'mention', description: '', says: []}}]}
UNWIND $rows AS row
MATCH (entity:__Entity__ {key: row.key})
MATCH (chunk:Chunk {id: row.chunk_id})
CREATE (entity)-[mention:FROM_CHUNK]->(chunk)
SET mention = row.properties
