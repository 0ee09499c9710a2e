// In which merges entities are: each member with the key of the entity that stayed.
// :param {keys: ['k']}
MATCH (member:__Member__)
WHERE member.key IN $keys
RETURN member.key AS key, member.graph AS graph, member.survivor AS survivor
