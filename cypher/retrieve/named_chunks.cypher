// The chunks that are about (role title) an entity whose normal form the question may contain.
// Parameters: $graph, $normals normal forms of the question's word sequences, $vector the question's vector, $limit chunks of each entity.
// Returns for each entity its normal form and spellings, and the $limit chunks about it that are nearest to the question.
// :param {graph: 'mention', normals: ['x100'], vector: [0.1, 0.2], limit: 10}
UNWIND $normals AS normal
MATCH (e:__Entity__ {normal: normal})-[:FROM_CHUNK {role: 'title'}]->(c:Chunk)
WHERE e.graph = $graph
WITH DISTINCT e, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH e, c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY similarity DESC, c.id
WITH e, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks
RETURN e.key AS key, e.name AS name, e.normal AS normal, e.aliases AS aliases, chunks[0..$limit] AS chunks
ORDER BY key
