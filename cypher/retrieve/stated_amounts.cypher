// The chunks that state amounts of things: they have one of the amounts and one of the words, and are of a thing's own document or name the thing.
// Parameters: $graph, $amounts keys of quantities, $words in lower case ('' is in every chunk), $owned ids of the things' documents,
// $things normal forms of their names.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', amounts: ['k'], words: ['flash'], owned: ['d'], things: ['x 100'], documents: null}
MATCH (q:__Entity__)-[:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE q.graph = $graph AND q.key IN $amounts AND any(word IN $words WHERE toLower(c.prompted) CONTAINS word)
  AND ($documents IS NULL OR d.id IN $documents)
WITH DISTINCT c, d
OPTIONAL MATCH (e:__Entity__)-[:FROM_CHUNK]->(c)
WHERE e.graph = $graph AND e.normal IN $things
WITH DISTINCT c, d, count(e) AS named
WHERE named > 0 OR d.id IN $owned
RETURN DISTINCT c.id AS id, d.id AS document_id, c.position AS position
ORDER BY document_id, position, id
