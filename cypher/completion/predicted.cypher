// The predicted edges of a graph, likeliest first.
// :param {graph: 'mention'}
MATCH (head:`GRAPH_LABEL`)-[predicted:__PREDICTED__]->(tail:`GRAPH_LABEL`)
RETURN head.key AS head, predicted.type AS type, tail.key AS tail, predicted.score AS score, predicted.method AS method, head.name AS head_name, tail.name AS tail_name
ORDER BY score DESC, head, type, tail
