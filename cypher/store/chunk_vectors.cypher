// The vectors of all chunks.
MATCH (chunk:Chunk)
WHERE chunk.embedding IS NOT NULL
RETURN chunk.id AS id, chunk.embedding AS embedding
