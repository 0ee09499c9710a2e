// Those of some communities that have a member.
// :param {keys: ['c']}
MATCH (:__Entity__)-[:IN_COMMUNITY]->(community:__Community__)
WHERE community.key IN $keys
RETURN DISTINCT community.key AS key
