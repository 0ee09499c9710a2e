// The entities of a graph that are nearest to the question by the graph's vector index, and those whose normal form the question may contain.
// Parameters: $graph, $index name of the vector index, $vector the question's vector, $limit how many of the nearest, $candidates how many the
// index is asked for, $normals normal forms of the question's word sequences.
// Returns key, name, aliases, normal, mentions, similarity in [0, 1] (null for those found by name only).
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', index: 'entity_embedding_mention', vector: [0.1, 0.2], limit: 10, candidates: 50, normals: ['x100'], documents: null}
CALL db.index.vector.queryNodes($index, $candidates, $vector) YIELD node, score
WHERE ($documents IS NULL OR EXISTS { MATCH (node)-[:FROM_CHUNK]->(x:Chunk) WHERE x.document_id IN $documents })
WITH node, score ORDER BY score DESC, node.key LIMIT $limit
RETURN node.key AS key, node.name AS name, node.aliases AS aliases, node.normal AS normal, node.mentions AS mentions, score AS similarity
UNION ALL
UNWIND $normals AS normal
MATCH (e:__Entity__ {normal: normal})
WHERE e.graph = $graph AND ($documents IS NULL OR EXISTS { MATCH (e)-[:FROM_CHUNK]->(x:Chunk) WHERE x.document_id IN $documents })
RETURN e.key AS key, e.name AS name, e.aliases AS aliases, e.normal AS normal, e.mentions AS mentions, null AS similarity
