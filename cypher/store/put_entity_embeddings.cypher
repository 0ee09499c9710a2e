// Give entities their vectors.
// :param {rows: [{id: 'k', embedding: [0.6, 0.8]}]}
UNWIND $rows AS row
MATCH (entity:__Entity__ {key: row.id})
SET entity.embedding = row.embedding
