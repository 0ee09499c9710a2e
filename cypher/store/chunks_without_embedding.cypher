// Chunks that wait for their vector.
MATCH (chunk:Chunk)
WHERE chunk.embedding IS NULL
RETURN chunk.id AS id
