// What given chunks say in one graph, one row for each relation and chunk: for comparison with triples that people wrote down.
// :param {graph: 'mention', chunks: ['c']}
MATCH (head:`GRAPH_LABEL`)-[relation]->(tail:`GRAPH_LABEL`)
WHERE relation.chunks IS NOT NULL
UNWIND relation.chunks AS chunk
WITH head, relation, tail, chunk
WHERE chunk IN $chunks
RETURN chunk, head.name AS head, type(relation) AS relation, tail.name AS tail
ORDER BY chunk, head, relation, tail
