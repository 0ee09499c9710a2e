// The entities of a graph, as community profiles show them.
// :param {graph: 'mention'}
MATCH (entity:`GRAPH_LABEL`)
RETURN entity.key AS key, entity.name AS name, entity.type AS type, entity.description AS description, entity.mentions AS mentions
