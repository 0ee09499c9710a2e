// Write documents as they are now.
// :param {rows: [{id: 'd', path: 'a.html', title: 'A'}]}
UNWIND $rows AS row
MERGE (document:Document {id: row.id})
SET document = row
