// Write who is in a community.
// :param {rows: [{key: 'c', member: 'k'}]}
UNWIND $rows AS row
MATCH (community:__Community__ {key: row.key})
MATCH (entity:__Entity__ {key: row.member})
CREATE (entity)-[:IN_COMMUNITY]->(community)
