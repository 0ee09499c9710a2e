// The chunks that state amounts of things: they have one of the amounts and one of the words, and are of a thing's own document or name the thing.
// Parameters: $graph, $amounts keys of quantities, $words in lower case ('' is in every chunk), $documents ids of the things' documents,
// $things normal forms of their names.
// :param {graph: 'mention', amounts: ['k'], words: ['flash'], documents: ['d'], things: ['x 100']}
MATCH (q:__Entity__)-[:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE q.graph = $graph AND q.key IN $amounts AND any(word IN $words WHERE toLower(c.prompted) CONTAINS word)
WITH DISTINCT c, d
OPTIONAL MATCH (e:__Entity__)-[:FROM_CHUNK]->(c)
WHERE e.graph = $graph AND e.normal IN $things
WITH DISTINCT c, d, count(e) AS named
WHERE named > 0 OR d.id IN $documents
RETURN DISTINCT c.id AS id, d.id AS document_id, c.position AS position
ORDER BY document_id, position, id
