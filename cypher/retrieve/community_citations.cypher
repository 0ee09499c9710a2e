// What the numbers in what is written about communities stand for.
// Parameters: $keys of communities.
// Returns key, citations (JSON).
// Only what $documents (ids; null: all) have is read.
// :param {keys: ['k'], documents: null}
MATCH (c:__Community__)
WHERE c.key IN $keys AND c.citations IS NOT NULL
  AND ($documents IS NULL OR NOT EXISTS { MATCH (c)<-[:IN_COMMUNITY]-(:__Entity__)-[:FROM_CHUNK]->(x:Chunk) WHERE NOT x.document_id IN $documents })
RETURN c.key AS key, c.citations AS citations
ORDER BY key
