// Write what rows of the tables in chunks say, with their vectors.
// :param {rows: [{id: 'r', chunk_id: 'c', text: 'Sensor. Limits. Supply voltage; Max: 3.6 V', embedding: [0.6, 0.8]}]}
UNWIND $rows AS row
MATCH (chunk:Chunk {id: row.chunk_id})
CREATE (made:__TableRow__)-[:ROW_OF]->(chunk)
SET made = row
