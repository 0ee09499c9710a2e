// Every author's hyperlink between chunks, as a random walk needs them.
// Returns source and target ids, each pair once.
// Only what $documents (ids; null: all) have is read.
// :param {documents: null}
MATCH (source:Chunk)-[:LINKS_TO]->(target:Chunk)
WHERE source.id <> target.id AND ($documents IS NULL OR source.document_id IN $documents) AND ($documents IS NULL OR target.document_id IN $documents)
RETURN DISTINCT source.id AS source, target.id AS target
ORDER BY source, target
