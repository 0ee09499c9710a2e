// Every document with what it is about: the things that a question can count.
// Returns id, title, product, category.
MATCH (d:Document)
RETURN d.id AS id, d.title AS title, d.product AS product, d.category AS category
ORDER BY d.id
