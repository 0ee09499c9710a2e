// How many chunks each document has.
MATCH (chunk:Chunk)
RETURN chunk.document_id AS document_id, count(*) AS chunks
