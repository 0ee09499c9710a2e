// Connect members with the entity that they went into.
// :param {rows: [{member: 'k', survivor: 'l'}]}
UNWIND $rows AS row
MATCH (member:__Member__ {key: row.member})
MATCH (entity:__Entity__ {key: row.survivor})
CREATE (member)-[:MERGED_INTO]->(entity)
