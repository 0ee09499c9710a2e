// Write which community another one is a part of.
// :param {rows: [{key: 'c', parent: 'p'}]}
UNWIND $rows AS row
MATCH (community:__Community__ {key: row.key})
MATCH (parent:__Community__ {key: row.parent})
CREATE (community)-[:PARENT_COMMUNITY]->(parent)
