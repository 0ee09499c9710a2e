// Every document with what it is about: the things that a question can count.
// Only $documents (ids; null: all) are read.
// Returns id, title, product, category.
// :param {documents: null}
MATCH (d:Document)
WHERE ($documents IS NULL OR d.id IN $documents)
RETURN d.id AS id, d.title AS title, d.product AS product, d.category AS category
ORDER BY d.id
