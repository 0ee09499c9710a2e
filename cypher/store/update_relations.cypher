// Write anew which chunks say relations that are there.
// Between both ends, found first: by itself Neo4j walks from one of them, and a hub has thousands.
// :param {rows: [{head: 'k', tail: 'l', properties: {description: 'X has Y.', weight: 1, chunks: ['c'], descriptions: ['X has Y.'], reasons: [''], grounded: true, reason: ''}}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
CALL (head, tail) {
  MATCH (head)-[one:`RELATION_TYPE`]->(tail)
  RETURN one AS relation
}
SET relation = row.properties
