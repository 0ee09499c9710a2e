// Take communities out of those that they were a part of.
// :param {keys: ['c']}
MATCH (community:__Community__)
WHERE community.key IN $keys
MATCH (community)-[parent:PARENT_COMMUNITY]->(:__Community__)
DELETE parent
