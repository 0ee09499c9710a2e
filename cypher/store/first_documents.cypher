// The first documents by path, and of those of one path by title and id.
// Parameters: $limit how many. Only what $documents (ids; null: all) have is read.
// :param {limit: 100, documents: null}
MATCH (document:Document)
WHERE $documents IS NULL OR document.id IN $documents
RETURN document {.*} AS document
ORDER BY document.path, document.title, document.id
LIMIT $limit
