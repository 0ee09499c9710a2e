// How often entities are named, how, and as what: their name, aliases and description follow from it.
// Returns one row: rows [{key, known_name, known_description, known_aliases, known_mentions, known_titles, name, role, description, times}],
// several of a key; of one without mentions times is 0.
// :param {keys: ['k']}
UNWIND $keys AS key
MATCH (entity:__Entity__ {key: key})
OPTIONAL MATCH (entity)-[mention:FROM_CHUNK]->(:Chunk)
WITH key, entity, mention.name AS name, mention.role AS role, mention.description AS description, count(mention) AS times
RETURN collect({key: key, known_name: entity.name, known_description: entity.description, known_aliases: entity.aliases,
                known_mentions: entity.mentions, known_titles: entity.titles, name: name, role: role, description: description,
                times: times}) AS rows
