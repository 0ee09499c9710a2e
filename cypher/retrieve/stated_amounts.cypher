// The chunks that state amounts of things: they have one of the amounts and one of the words, and are of a thing's own document or name the thing.
// Parameters: $graph, $amounts keys of quantities, $words in lower case ('' is in every chunk), $owned ids of the things' documents,
// $things normal forms of their names.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', amounts: ['k'], words: ['flash'], owned: ['d'], things: ['x 100'], documents: null}
UNWIND $amounts AS amount
MATCH (q:__Entity__ {key: amount})-[:FROM_CHUNK]->(c:Chunk)
WHERE q.graph = $graph AND ($documents IS NULL OR c.document_id IN $documents)
WITH DISTINCT c
WITH c, toLower(c.prompted) AS text
WHERE any(word IN $words WHERE text CONTAINS word)
  AND (c.document_id IN $owned OR EXISTS { MATCH (e:__Entity__)-[:FROM_CHUNK]->(c) WHERE e.graph = $graph AND e.normal IN $things })
RETURN c.id AS id, c.document_id AS document_id, c.position AS position
ORDER BY document_id, position, id
