// Chunks with a table, by the line below its header, of which no row is there.
MATCH (chunk:Chunk)
WHERE chunk.text CONTAINS '| ---' AND NOT (chunk)<-[:ROW_OF]-()
RETURN chunk.id AS id
