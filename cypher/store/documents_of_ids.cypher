// Some documents.
// :param {ids: ['d']}
MATCH (document:Document)
WHERE document.id IN $ids
RETURN document {.*} AS document
