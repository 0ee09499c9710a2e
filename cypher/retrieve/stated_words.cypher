// The chunks that say a word of things: those of a thing's own documents, and those elsewhere that name the thing.
// Parameters: $graph, $words in lower case, $owned ids of the things' documents, $things normal forms of their names.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', words: ['ethernet'], owned: ['d'], things: ['x 100'], documents: null}
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE any(word IN $words WHERE toLower(c.prompted) CONTAINS word)
  AND ($documents IS NULL OR d.id IN $documents)
WITH c, d
OPTIONAL MATCH (e:__Entity__)-[:FROM_CHUNK]->(c)
WHERE e.graph = $graph AND e.normal IN $things
WITH DISTINCT c, d, count(e) AS named
WHERE named > 0 OR d.id IN $owned
RETURN DISTINCT c.id AS id, d.id AS document_id, c.position AS position
ORDER BY document_id, position, id
