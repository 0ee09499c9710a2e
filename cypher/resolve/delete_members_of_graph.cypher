// Forget the members of the merges of a graph, some at a time; again until nothing is left.
// :param {of_graph: 'mention', limit: 5000}
MATCH (member:__Member__)
WHERE member.graph = $of_graph
WITH member LIMIT $limit
DETACH DELETE member
