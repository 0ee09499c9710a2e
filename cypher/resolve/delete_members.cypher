// Forget the members of merges that were taken back.
// :param {survivors: ['l']}
MATCH (member:__Member__)
WHERE member.survivor IN $survivors
DETACH DELETE member
