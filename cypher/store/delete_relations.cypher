// Delete relations of one type that no chunk says any more.
// :param {rows: [{head: 'k', tail: 'l'}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
MATCH (head)-[relation:`RELATION_TYPE`]->(tail)
DELETE relation
