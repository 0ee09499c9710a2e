// Every relation of a graph, SIMILAR included, as a random walk needs them.
// Parameters: $graph.
// Returns head and tail (keys), their names, type, description, weight, score (of SIMILAR).
// :param {graph: 'mention'}
MATCH (head:__Entity__)-[r]->(tail:__Entity__)
WHERE head.graph = $graph
RETURN head.key AS head, tail.key AS tail, head.name AS head_name, tail.name AS tail_name, type(r) AS type, r.description AS description,
       r.weight AS weight, r.score AS score
ORDER BY head, tail, type
