// Delete the rows of the tables in chunks.
// :param {ids: ['c']}
MATCH (row:__TableRow__)-[:ROW_OF]->(chunk:Chunk)
WHERE chunk.id IN $ids
DETACH DELETE row
