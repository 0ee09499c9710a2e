// Delete communities with their relationships.
// :param {keys: ['c']}
MATCH (community:__Community__)
WHERE community.key IN $keys
DETACH DELETE community
