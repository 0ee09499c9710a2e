// Write the lists of nodes that neo4j-admin could not: those without items, and those of one empty text. On Neo4j, in transactions of its own.
// :param {names: ['headings', 'anchors'], none: 'xx', one_empty: 'x'}
MATCH (n:Chunk|__Entity__|__Merge__|__Community__)
WITH n, [name IN $names WHERE n[name] = [$none]] AS none, [name IN $names WHERE n[name] = [$one_empty]] AS one_empty
WHERE size(none) + size(one_empty) > 0
CALL (n, none, one_empty) {
  FOREACH (name IN none | SET n[name] = [])
  FOREACH (name IN one_empty | SET n[name] = [''])
} IN TRANSACTIONS OF 10000 ROWS
