// Relations of one type between given entities, with the chunks that say them.
// :param {rows: [{head: 'k', tail: 'l'}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
MATCH (head)-[relation:`RELATION_TYPE`]->(tail)
RETURN row.head AS head, row.tail AS tail, relation.chunks AS chunks, relation.descriptions AS descriptions, relation.reasons AS reasons
