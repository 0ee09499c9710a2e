// Forget the merges of a graph, some at a time; again until nothing is left.
// :param {of_graph: 'mention', limit: 5000}
MATCH (merge:__Merge__)
WHERE merge.graph = $of_graph
WITH merge LIMIT $limit
DETACH DELETE merge
