// What is known of entities: the chunks that mention them and their relations. Of a hub, which more than $common chunks mention, those
// of the chunks nearest to the question ($near) that mention it, and no relations: what is read would grow with the store.
// Parameters: $graph, $keys of entities, $vector the question's vector, $common, $near ids of chunks, $chunks of one entity (nearest to the
// question first), $relations of one entity (the best supported first).
// Returns a row for each entity: key, chunks [{id, role, similarity, document_id, position}], relations [{head, head_key, type, tail, tail_key, description, weight, chunk}].
// Only what $documents (ids; null: all) have is read; of relations what their chunks $readable (ids; null: all) say.
// :param {graph: 'mention', keys: ['k'], vector: [0.1, 0.2], common: 1000, near: [], chunks: 30, relations: 30, documents: null, readable: null}
UNWIND $keys AS key
MATCH (e:__Entity__ {key: key})
WITH e, CASE WHEN e.mentions <= $common THEN [e] ELSE [] END AS small, CASE WHEN e.mentions > $common THEN $near ELSE [] END AS near
CALL (small) {
  UNWIND small AS one
  MATCH (one)-[said:FROM_CHUNK]->(c:Chunk)
  WHERE ($documents IS NULL OR c.document_id IN $documents)
  WITH c, max(said.role) AS role, vector.similarity.cosine([1.0], [-1.0]) AS opposite
  WITH c, role, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
  ORDER BY similarity DESC, c.id LIMIT $chunks
  RETURN collect({id: c.id, role: role, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks
}
CALL (e, near) {
  UNWIND near AS id
  MATCH (c:Chunk {id: id})<-[said:FROM_CHUNK]-(mentioned)
  WHERE mentioned = e AND ($documents IS NULL OR c.document_id IN $documents)
  WITH c, max(said.role) AS role, vector.similarity.cosine([1.0], [-1.0]) AS opposite
  WITH c, role, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
  ORDER BY similarity DESC, c.id LIMIT $chunks
  RETURN collect({id: c.id, role: role, similarity: similarity, document_id: c.document_id, position: c.position}) AS near_chunks
}
CALL (small) {
  UNWIND small AS one
  MATCH (one)-[r]-(n:__Entity__)
  WHERE n.graph = $graph AND NOT type(r) IN ['SIMILAR', '__PREDICTED__']
    AND ($readable IS NULL OR any(id IN r.chunks WHERE id IN $readable))
  WITH DISTINCT r, n ORDER BY r.weight DESC, n.mentions, n.key, type(r) LIMIT $relations
  RETURN collect({head: startNode(r).name, head_key: startNode(r).key, type: type(r), tail: endNode(r).name, tail_key: endNode(r).key, description: CASE WHEN $readable IS NULL THEN r.description ELSE [i IN range(0, size(r.chunks) - 1) WHERE r.chunks[i] IN $readable | r.descriptions[i]][0] END, weight: r.weight,
                  chunk: [id IN r.chunks WHERE $readable IS NULL OR id IN $readable][0]}) AS relations
}
RETURN e.key AS key, chunks + near_chunks AS chunks, relations
