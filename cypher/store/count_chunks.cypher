// How many chunks there are.
MATCH (chunk:Chunk)
RETURN count(*) AS chunks
