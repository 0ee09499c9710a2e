// The vectors of a graph's entities.
// :param {graph: 'mention'}
MATCH (entity:`GRAPH_LABEL`)
WHERE entity.embedding IS NOT NULL
RETURN entity.key AS key, entity.embedding AS embedding
