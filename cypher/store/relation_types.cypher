// The types of relations of each graph, with how many there are, most first; SIMILAR and __PREDICTED__ are none.
MATCH (e:__Entity__)-[r]->(n:__Entity__)
WHERE NOT type(r) IN ['SIMILAR', '__PREDICTED__']
RETURN e.graph AS graph, type(r) AS type, count(r) AS relations
ORDER BY graph, relations DESC, type
