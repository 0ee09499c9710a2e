// How many merges a graph has, and how many entities are in them.
// :param {graph: 'mention'}
MATCH (member:__Member__)
WHERE member.graph = $graph
RETURN count(DISTINCT member.survivor) AS merges, count(member) AS members
