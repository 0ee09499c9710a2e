// Join entities that are similar.
// :param {rows: [{one: 'k', other: 'l', score: 0.87}]}
UNWIND $rows AS row
MATCH (one:__Entity__ {key: row.one})
MATCH (other:__Entity__ {key: row.other})
CREATE (one)-[similar:SIMILAR]->(other)
SET similar.score = row.score
