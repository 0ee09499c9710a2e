// Entities with all their properties, the vector included: what a merge keeps of its members.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN entity.key AS key, properties(entity) AS properties
