// One community of a graph: whether there is any.
// :param {graph: 'mention'}
MATCH (c:__Community__ {graph: $graph})
RETURN c.key AS key
LIMIT 1
