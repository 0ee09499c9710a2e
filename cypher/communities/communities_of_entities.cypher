// The communities that some entities are in.
// :param {keys: ['k']}
MATCH (entity:__Entity__)-[:IN_COMMUNITY]->(community:__Community__)
WHERE entity.key IN $keys
RETURN DISTINCT community.key AS key
