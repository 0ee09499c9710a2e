// Take apart entities that are no longer similar.
// :param {rows: [{one: 'k', other: 'l'}]}
UNWIND $rows AS row
MATCH (one:__Entity__ {key: row.one})
MATCH (other:__Entity__ {key: row.other})
MATCH (one)-[similar:SIMILAR]->(other)
DELETE similar
