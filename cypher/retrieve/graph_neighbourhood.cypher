// The graph around seed chunks, as the thesis expands it, with an order for every cap: for each seed up to $entities entities that it mentions
// (rarest first), up to $chunks other chunks that share them (by the summed inverse mentions of what is shared), and the relations of those entities
// (SIMILAR and __PREDICTED__ are none) with up to $neighbours other entities each seed (the best supported first), a second hop further where $hops is 2.
// Entities that more than $common chunks mention are hubs, and lead nowhere: what is read around them would grow with the store.
// Parameters: $graph, $seeds ids, $vector the question's vector, $common, $entities, $chunks, $neighbours, $hops (1 or 2).
// Returns a row for each seed: chunks [{id, shared, weight, similarity}] and relations [{hop, head, type, tail, description, weight, chunk}].
// Only what $documents (ids; null: all) have is read; of relations what their chunks $readable (ids; null: all) say.
// :param {graph: 'mention', seeds: ['c'], vector: [0.1, 0.2], common: 1000, entities: 20, chunks: 10, neighbours: 30, hops: 2, documents: null, readable: null}
UNWIND $seeds AS seed
MATCH (s:Chunk {id: seed})
WHERE ($documents IS NULL OR s.document_id IN $documents)
CALL (s) {
  MATCH (s)<-[:FROM_CHUNK]-(e:__Entity__)
  WHERE e.graph = $graph AND e.mentions <= $common
  WITH DISTINCT e ORDER BY e.mentions, e.key LIMIT $entities
  RETURN collect(e) AS entities
}
CALL (s, entities) {
  UNWIND entities AS e
  MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
  WHERE c.id <> s.id AND ($documents IS NULL OR c.document_id IN $documents)
  WITH DISTINCT e, c
  WITH c, count(e) AS shared, sum(1.0 / e.mentions) AS weight
  ORDER BY weight DESC, c.id LIMIT $chunks
  WITH c, shared, weight, vector.similarity.cosine([1.0], [-1.0]) AS opposite
  WITH c, shared, weight, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
  ORDER BY weight DESC, c.id
  RETURN collect({id: c.id, shared: shared, weight: weight, similarity: similarity, document_id: c.document_id,
                  position: c.position}) AS related
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)-[r]-(n:__Entity__)
  WHERE n.graph = $graph AND NOT type(r) IN ['SIMILAR', '__PREDICTED__']
    AND ($readable IS NULL OR any(id IN r.chunks WHERE id IN $readable))
  WITH DISTINCT r, n ORDER BY r.weight DESC, n.mentions, n.key, type(r) LIMIT $neighbours
  RETURN collect(n) AS neighbours, collect({hop: 1, head: startNode(r).name, head_key: startNode(r).key, type: type(r), tail: endNode(r).name, tail_key: endNode(r).key,
         description: CASE WHEN $readable IS NULL THEN r.description ELSE [i IN range(0, size(r.chunks) - 1) WHERE r.chunks[i] IN $readable | r.descriptions[i]][0] END, weight: r.weight, chunk: [id IN r.chunks WHERE $readable IS NULL OR id IN $readable][0]}) AS near
}
CALL (neighbours) {
  UNWIND [n IN neighbours WHERE $hops > 1 AND n.mentions <= $common] AS n
  MATCH (n)-[r]-(m:__Entity__)
  WHERE m.graph = $graph AND NOT type(r) IN ['SIMILAR', '__PREDICTED__']
    AND ($readable IS NULL OR any(id IN r.chunks WHERE id IN $readable))
  WITH DISTINCT r, m ORDER BY r.weight DESC, m.mentions, m.key, type(r) LIMIT $neighbours
  RETURN collect({hop: 2, head: startNode(r).name, head_key: startNode(r).key, type: type(r), tail: endNode(r).name, tail_key: endNode(r).key,
         description: CASE WHEN $readable IS NULL THEN r.description ELSE [i IN range(0, size(r.chunks) - 1) WHERE r.chunks[i] IN $readable | r.descriptions[i]][0] END, weight: r.weight, chunk: [id IN r.chunks WHERE $readable IS NULL OR id IN $readable][0]}) AS far
}
RETURN s.id AS seed, related AS chunks, near + far AS relations
