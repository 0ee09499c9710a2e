// How far an import is that has not ended.
MATCH (import:__Import__ {key: 'import'})
RETURN import.export AS export, import.kind AS kind, import.rows AS rows
