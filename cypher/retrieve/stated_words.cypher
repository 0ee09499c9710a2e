// The chunks that say a word of things: those of a thing's own documents, and those elsewhere that name the thing. The full-text index gives those
// that may have a word, so that no other chunk's text is read.
// Parameters: $index name of the full-text index, $query Lucene's, of the words, $graph, $words in lower case (any of them), $owned ids of the
// things' documents, $things normal forms of their names. Only what $documents (ids; null: all) have is read.
// :param {index: 'chunk_prompted', query: 'ethernet', graph: 'mention', words: ['ethernet'], owned: ['d'], things: ['x 100'], documents: null}
CALL db.index.fulltext.queryNodes($index, $query, {}) YIELD node AS c
WHERE $documents IS NULL OR c.document_id IN $documents
WITH c, toLower(c.prompted) AS text
WHERE any(word IN $words WHERE text CONTAINS word)
  AND (c.document_id IN $owned OR EXISTS { MATCH (e:__Entity__)-[:FROM_CHUNK]->(c) WHERE e.graph = $graph AND e.normal IN $things })
RETURN c.id AS id, c.document_id AS document_id, c.position AS position
ORDER BY document_id, position, id
