// The relations of a graph, SIMILAR and __PREDICTED__ left out: how many chunks say that two entities have to do with each other.
// :param {graph: 'mention'}
MATCH (head:`GRAPH_LABEL`)-[relation]->(tail:`GRAPH_LABEL`)
WHERE NOT type(relation) IN ['SIMILAR', '__PREDICTED__']
RETURN head.key AS head, tail.key AS tail, relation.weight AS weight
