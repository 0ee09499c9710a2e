// Members of merges by key, with the chunks that named them.
// :param {keys: ['k']}
MATCH (member:__Member__)
WHERE member.key IN $keys
RETURN member.key AS key, member.mentions AS mentions
