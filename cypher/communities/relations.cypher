// The relations of a graph, SIMILAR left out: how many chunks say that two entities have to do with each other.
// :param {graph: 'mention'}
MATCH (head:`GRAPH_LABEL`)-[relation]->(tail:`GRAPH_LABEL`)
WHERE type(relation) <> 'SIMILAR'
RETURN head.key AS head, tail.key AS tail, relation.weight AS weight
