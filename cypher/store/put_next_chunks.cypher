// Write the reading order: each chunk to the one after it.
// :param {rows: [{id: 'c', next: 'd'}]}
UNWIND $rows AS row
MATCH (chunk:Chunk {id: row.id})
MATCH (next:Chunk {id: row.next})
CREATE (chunk)-[:NEXT_CHUNK]->(next)
