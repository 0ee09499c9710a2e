// How often entities are named, how, and as what: their name, aliases and description follow from it.
// :param {keys: ['k']}
UNWIND $keys AS key
MATCH (entity:__Entity__ {key: key})
OPTIONAL MATCH (entity)-[mention:FROM_CHUNK]->(:Chunk)
RETURN key, entity.name AS known_name, entity.description AS known_description, entity.aliases AS known_aliases, entity.mentions AS known_mentions, entity.titles AS known_titles, mention.name AS name, mention.role AS role, mention.description AS description, count(mention) AS times
