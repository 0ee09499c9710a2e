// Give chunks their vectors.
// :param {rows: [{id: 'c', embedding: [0.6, 0.8]}]}
UNWIND $rows AS row
MATCH (chunk:Chunk {id: row.id})
SET chunk.embedding = row.embedding
