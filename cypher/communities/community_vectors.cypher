// The vectors of some communities.
// :param {keys: ['c']}
MATCH (community:__Community__)
WHERE community.key IN $keys AND community.embedding IS NOT NULL
RETURN community.key AS key, community.embedding AS embedding
