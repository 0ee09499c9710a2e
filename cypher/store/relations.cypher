// Relations of one type between given entities, with the chunks that say them.
// Between both ends, found first: by itself Neo4j walks from one of them, and a hub has thousands.
// Returns one row: rows [{head, tail, chunks, descriptions, reasons}].
// :param {rows: [{head: 'k', tail: 'l'}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
CALL (head, tail) {
  MATCH (head)-[one:`RELATION_TYPE`]->(tail)
  RETURN one AS relation
}
RETURN collect({head: row.head, tail: row.tail, chunks: relation.chunks, descriptions: relation.descriptions,
                reasons: relation.reasons}) AS rows
