// Write new communities of one level of a graph; their members and parents come after, in the same transaction.
// :param {rows: [{key: 'k', graph: 'mention', level: 0, size: 2, structure: '00'}]}
UNWIND $rows AS row
CREATE (community:__Community__:`COMMUNITY_LABEL`)
SET community = row
