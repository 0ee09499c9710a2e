// The quantities of a graph, by name: which of them measure what a question asks for is read from the name.
// Parameters: $graph.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', documents: null}
MATCH (q:__Entity__)-[:FROM_CHUNK]->(c:Chunk)
WHERE q.graph = $graph AND q.type = 'Quantity' AND ($documents IS NULL OR c.document_id IN $documents)
RETURN DISTINCT q.key AS key, q.name AS name
ORDER BY key
