// What is known of how some entities are named; of their mentions only how many they are, and how many of role title.
// Returns one row: rows [{key, name, aliases, mentions, titles, description}].
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN collect({key: entity.key, name: entity.name, aliases: entity.aliases, mentions: entity.mentions, titles: entity.titles,
                description: entity.description}) AS rows
