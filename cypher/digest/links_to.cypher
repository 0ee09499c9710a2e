// The hyperlinks, for the digest.
MATCH (chunk:Chunk)-[relationship:LINKS_TO]->(target:Chunk)
RETURN chunk.id AS source, target.id AS target, properties(relationship) AS properties
