// Give chunks the vectors of chunks that they take the place of.
// :param {rows: [{id: 'c', before: 'b'}]}
UNWIND $rows AS row
MATCH (before:Chunk {id: row.before})
MATCH (chunk:Chunk {id: row.id})
WHERE before.embedding IS NOT NULL
SET chunk.embedding = before.embedding
