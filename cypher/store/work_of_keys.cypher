// What the ledger says about some works.
// :param {keys: ['w']}
UNWIND $keys AS key
MATCH (work:__Work__ {key: key})
RETURN work {.*} AS work
