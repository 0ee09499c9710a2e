// How many entities of a graph there are.
// :param {graph: 'mention'}
MATCH (entity:`GRAPH_LABEL`)
RETURN count(*) AS entities
