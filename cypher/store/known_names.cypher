// What is known of how some entities are named; of their mentions only the number.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN entity.key AS key, entity.name AS name, entity.aliases AS aliases, entity.mentions AS mentions, entity.description AS description
