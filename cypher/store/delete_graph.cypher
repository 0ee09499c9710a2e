// Delete some entities of a graph with all their relationships; again until nothing is left.
// :param {graph: 'mention', limit: 5000}
MATCH (entity:`GRAPH_LABEL`)
WITH entity LIMIT $limit
DETACH DELETE entity
