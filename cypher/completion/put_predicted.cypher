// Write predicted edges: type is that of the relation that may hold, score the share of such predictions that held-out triples confirmed.
// :param {rows: [{head: 'k', tail: 'l', type: 'PART_OF', score: 0.4, method: 'rules'}]}
UNWIND $rows AS row
MATCH (head:__Entity__ {key: row.head})
MATCH (tail:__Entity__ {key: row.tail})
CREATE (head)-[predicted:__PREDICTED__]->(tail)
SET predicted.type = row.type, predicted.score = row.score, predicted.method = row.method
