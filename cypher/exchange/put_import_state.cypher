// Say how far an import is, in the transaction that brings it so far.
// :param {export: 'd', kind: 'chunk', rows: 1000}
MERGE (import:__Import__ {key: 'import'})
SET import.export = $export, import.kind = $kind, import.rows = $rows
