// Which of some entities are in the store.
// Returns one row: rows [key].
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN collect(entity.key) AS rows
