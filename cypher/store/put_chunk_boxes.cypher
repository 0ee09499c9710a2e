// Say anew where chunks stand on their pages; their vectors and what was extracted from them stay.
// :param {rows: [{id: 'c', boxes: '[[1,72,100,523,130]]'}]}
UNWIND $rows AS row
MATCH (chunk:Chunk {id: row.id})
SET chunk.boxes = row.boxes
