// Entities whose name or description changed wait for a new vector.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
SET entity.embedding = null
