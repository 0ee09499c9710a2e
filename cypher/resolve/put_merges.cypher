// Keep the plan of merges: the members of each, and why they are one.
// :param {rows: [{key: 'l', graph: 'mention', members: ['k', 'l'], reasons: '{}'}]}
UNWIND $rows AS row
CREATE (merge:__Merge__)
SET merge = row
