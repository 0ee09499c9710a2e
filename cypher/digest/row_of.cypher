// Which chunk's table each row is of, for the digest.
MATCH (row:__TableRow__)-[relationship:ROW_OF]->(chunk:Chunk)
RETURN row.id AS source, chunk.id AS target, properties(relationship) AS properties
