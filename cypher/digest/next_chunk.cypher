// The reading order, for the digest.
MATCH (chunk:Chunk)-[relationship:NEXT_CHUNK]->(next:Chunk)
RETURN chunk.id AS source, next.id AS target, properties(relationship) AS properties
