// The types of entities and relations of a graph, for who writes Cypher over it: kind, type and how many, most first.
// Parameters: $graph.
// :param {graph: 'mention'}
MATCH (e:__Entity__)
WHERE e.graph = $graph
RETURN 'entity' AS kind, e.type AS type, count(e) AS many
UNION ALL
MATCH (e:__Entity__)-[r]->(n:__Entity__)
WHERE e.graph = $graph AND NOT type(r) IN ['SIMILAR', '__PREDICTED__']
RETURN 'relation' AS kind, type(r) AS type, count(r) AS many
