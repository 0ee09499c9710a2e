// Every author's hyperlink between chunks, as a random walk needs them.
// Returns source and target ids, each pair once.
MATCH (source:Chunk)-[:LINKS_TO]->(target:Chunk)
WHERE source.id <> target.id
RETURN DISTINCT source.id AS source, target.id AS target
ORDER BY source, target
