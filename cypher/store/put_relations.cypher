// Write new relations of one type between entities, with the chunks that say them.
// :param {rows: [{head: 'k', tail: 'l', properties: {description: 'X has Y.', weight: 1, chunks: ['c'], descriptions: ['X has Y.'], reasons: [''], grounded: true, reason: ''}}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
CREATE (head)-[relation:`RELATION_TYPE`]->(tail)
SET relation = row.properties
