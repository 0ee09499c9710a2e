// Every chunk, its vector as its length, for the digest.
MATCH (chunk:Chunk)
RETURN chunk {.*, embedding: size(chunk.embedding)} AS properties
