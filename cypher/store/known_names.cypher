// What is known of how some entities are named; of their mentions only how many they are, and how many of role title.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN entity.key AS key, entity.name AS name, entity.aliases AS aliases, entity.mentions AS mentions, entity.titles AS titles, entity.description AS description
