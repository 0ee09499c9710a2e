// An import has ended.
MATCH (import:__Import__ {key: 'import'})
DELETE import
