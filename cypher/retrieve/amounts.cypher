// The quantities of a graph, by name: which of them measure what a question asks for is read from the name.
// Parameters: $graph.
// :param {graph: 'mention'}
MATCH (q:__Entity__)
WHERE q.graph = $graph AND q.type = 'Quantity'
RETURN q.key AS key, q.name AS name
ORDER BY key
