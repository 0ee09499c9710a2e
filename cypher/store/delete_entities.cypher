// Delete entities that no chunk names any more.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
DETACH DELETE entity
