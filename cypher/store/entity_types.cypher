// The types of entities of each graph, with how many there are, most first.
MATCH (e:__Entity__)
RETURN e.graph AS graph, e.type AS type, count(e) AS entities
ORDER BY graph, entities DESC, type
