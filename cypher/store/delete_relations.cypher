// Delete relations of one type that no chunk says any more.
// Between both ends, found first: by itself Neo4j walks from one of them, and a hub has thousands.
// :param {rows: [{head: 'k', tail: 'l'}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
CALL (head, tail) {
  MATCH (head)-[one:`RELATION_TYPE`]->(tail)
  RETURN one AS relation
}
DELETE relation
