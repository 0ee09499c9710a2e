// Write what the surroundings of communities are now whose members stayed the same.
// :param {rows: [{key: 'c', structure: '00'}]}
UNWIND $rows AS row
MATCH (community:__Community__ {key: row.key})
SET community.structure = row.structure
