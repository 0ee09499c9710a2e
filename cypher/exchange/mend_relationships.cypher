// Write the lists of relationships that neo4j-admin could not: those without items, and those of one empty text. On Neo4j, in
// transactions of its own.
// :param {names: ['reasons', 'says'], none: 'xx', one_empty: 'x'}
MATCH (:__Entity__)-[r]->()
WITH r, [name IN $names WHERE r[name] = [$none]] AS none, [name IN $names WHERE r[name] = [$one_empty]] AS one_empty
WHERE size(none) + size(one_empty) > 0
CALL (r, none, one_empty) {
  FOREACH (name IN none | SET r[name] = [])
  FOREACH (name IN one_empty | SET r[name] = [''])
} IN TRANSACTIONS OF 10000 ROWS
