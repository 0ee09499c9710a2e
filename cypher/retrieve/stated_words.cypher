// The chunks that say a word of things: those of a thing's own documents, and those elsewhere that name the thing. No other chunk is read.
// Parameters: $graph, $words in lower case (any of them), $owned ids of the things' documents, $things normal forms of their names.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', words: ['ethernet'], owned: ['d'], things: ['x 100'], documents: null}
CALL {
  UNWIND $owned AS owned
  MATCH (c:Chunk {document_id: owned})
  RETURN c
  UNION ALL
  UNWIND $things AS thing
  MATCH (e:__Entity__ {normal: thing})-[:FROM_CHUNK]->(c:Chunk)
  WHERE e.graph = $graph
  RETURN c
}
WITH DISTINCT c
WITH c, toLower(c.prompted) AS text
WHERE ($documents IS NULL OR c.document_id IN $documents) AND any(word IN $words WHERE text CONTAINS word)
RETURN c.id AS id, c.document_id AS document_id, c.position AS position
ORDER BY document_id, position, id
