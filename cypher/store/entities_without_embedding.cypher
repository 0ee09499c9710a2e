// Entities of one graph that wait for their vector.
// :param {graph: 'mention'}
MATCH (entity:`GRAPH_LABEL`)
WHERE entity.embedding IS NULL
RETURN entity.key AS key
