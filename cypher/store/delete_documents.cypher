// Delete documents whose chunks are gone already.
// :param {ids: ['d']}
MATCH (document:Document)
WHERE document.id IN $ids
DETACH DELETE document
