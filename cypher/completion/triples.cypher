// The relations of a graph as triples of keys; SIMILAR and __PREDICTED__ are none.
// :param {graph: 'mention'}
MATCH (head:`GRAPH_LABEL`)-[relation]->(tail:`GRAPH_LABEL`)
WHERE NOT type(relation) IN ['SIMILAR', '__PREDICTED__']
RETURN head.key AS head, type(relation) AS type, tail.key AS tail
