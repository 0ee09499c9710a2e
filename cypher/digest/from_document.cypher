// Which chunk is of which document, for the digest.
MATCH (chunk:Chunk)-[relationship:FROM_DOCUMENT]->(document:Document)
RETURN chunk.id AS source, document.id AS target, properties(relationship) AS properties
