// The entities that went into merged ones, as they were.
// :param {survivors: ['k']}
MATCH (member:__Member__)
WHERE member.survivor IN $survivors
RETURN member.key AS key, member.survivor AS survivor, member.properties AS properties, member.mentions AS mentions, member.relations AS relations, member.embedding AS embedding
