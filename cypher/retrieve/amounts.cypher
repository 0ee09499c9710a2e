// The quantities of a graph, by name: which of them measure what a question asks for is read from the name.
// Parameters: $graph.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', documents: null}
MATCH (q:__Entity__:Quantity)
WHERE q.graph = $graph AND ($documents IS NULL OR EXISTS { MATCH (q)-[:FROM_CHUNK]->(c:Chunk) WHERE c.document_id IN $documents })
RETURN q.key AS key, q.name AS name
ORDER BY key
