// The titles of some documents, which versions they are of, and what is said about them besides.
// Parameters: $ids of documents.
// Returns one row: rows [{id, title, version, metadata}].
// Only what $documents (ids; null: all) have is read.
// :param {ids: ['d'], documents: null}
MATCH (d:Document)
WHERE d.id IN $ids AND ($documents IS NULL OR d.id IN $documents)
WITH d ORDER BY d.id
RETURN collect({id: d.id, title: d.title, version: d.version, metadata: d.metadata}) AS rows
