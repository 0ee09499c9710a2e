// What is known of entities: the chunks that mention them and their relations.
// Parameters: $graph, $keys of entities, $vector the question's vector, $chunks of one entity (nearest to the question first), $relations of one
// entity (the best supported first).
// Returns a row for each entity: key, chunks [{id, role, similarity, document_id, position}], relations [{head, type, tail, description, weight, chunk}].
// :param {graph: 'mention', keys: ['k'], vector: [0.1, 0.2], chunks: 30, relations: 30}
UNWIND $keys AS key
MATCH (e:__Entity__ {key: key})
CALL (e) {
  MATCH (e)-[said:FROM_CHUNK]->(c:Chunk)
  WITH c, max(said.role) AS role, vector.similarity.cosine([1.0], [-1.0]) AS opposite
  WITH c, role, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
  ORDER BY similarity DESC, c.id LIMIT $chunks
  RETURN collect({id: c.id, role: role, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks
}
CALL (e) {
  MATCH (e)-[r]-(n:__Entity__)
  WHERE n.graph = $graph AND type(r) <> 'SIMILAR'
  WITH DISTINCT r, n ORDER BY r.weight DESC, n.mentions, n.key, type(r) LIMIT $relations
  RETURN collect({head: startNode(r).name, type: type(r), tail: endNode(r).name, description: r.description, weight: r.weight,
                  chunk: r.chunks[0]}) AS relations
}
RETURN e.key AS key, chunks, relations
