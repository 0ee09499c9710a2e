// Chunks in which the authors set links.
MATCH (chunk:Chunk)
WHERE chunk.links <> '[]'
RETURN chunk.id AS id, chunk.links AS links
