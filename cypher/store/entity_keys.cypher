// Which of some entities are in the store.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN entity.key AS key
