// Every chunk with its vector, for an export.
MATCH (chunk:Chunk)
RETURN properties(chunk) AS properties
