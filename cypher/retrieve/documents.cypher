// The titles of some documents, which versions they are of, and what is said about them besides.
// Parameters: $ids of documents.
// Only what $documents (ids; null: all) have is read.
// :param {ids: ['d'], documents: null}
MATCH (d:Document)
WHERE d.id IN $ids AND ($documents IS NULL OR d.id IN $documents)
RETURN d.id AS id, d.title AS title, d.version AS version, d.metadata AS metadata
ORDER BY id
