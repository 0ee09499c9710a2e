// Which entities of a graph are joined as similar.
// :param {graph: 'mention'}
MATCH (one:`GRAPH_LABEL`)-[similar:SIMILAR]->(other:__Entity__)
RETURN one.key AS one, other.key AS other, similar.score AS score
