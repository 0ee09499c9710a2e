// Write ledger entries.
// :param {rows: [{key: 'w', stage: 'extract', subject: 'c', scope: 'mention', state: 'ok'}]}
UNWIND $rows AS row
MERGE (work:__Work__ {key: row.key})
SET work = row
