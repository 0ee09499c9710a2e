// One entity of a graph: whether there is any.
// :param {graph: 'mention'}
MATCH (e:`GRAPH_LABEL`)
RETURN e.key AS key
LIMIT 1
