// The types of relations of each graph, with how many there are, most first; SIMILAR is none.
MATCH (e:__Entity__)-[r]->(n:__Entity__)
WHERE type(r) <> 'SIMILAR'
RETURN e.graph AS graph, type(r) AS type, count(r) AS relations
ORDER BY graph, relations DESC, type
