// How many documents there are.
// Parameters: only what $documents (ids; null: all) have is counted.
// :param {documents: null}
MATCH (document:Document)
WHERE $documents IS NULL OR document.id IN $documents
RETURN count(*) AS documents
