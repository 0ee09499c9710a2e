// The ids of the chunks of some documents, each with how many rows of its tables have a vector: what somebody may read of a store.
// Parameters: $documents ids.
// :param {documents: ['d']}
MATCH (c:Chunk)
WHERE c.document_id IN $documents
RETURN c.id AS id, COUNT { (c)<-[:ROW_OF]-() } AS rows
