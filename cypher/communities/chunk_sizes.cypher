// The chunks with their sizes and documents.
MATCH (chunk:Chunk)
RETURN chunk.id AS id, chunk.document_id AS document_id, chunk.tokens AS tokens, chunk.position AS position
