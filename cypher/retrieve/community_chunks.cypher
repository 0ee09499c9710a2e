// The chunks of communities: of each its most mentioned entities, and the chunks that mention these, nearest to the question first.
// Parameters: $keys of communities, $vector the question's vector, $entities of one community, $chunks of one community.
// Returns a row for each community: key, chunks [{id, shared, similarity, document_id, position}].
// Only what $documents (ids; null: all) have is read.
// :param {keys: ['k'], vector: [0.1, 0.2], entities: 25, chunks: 15, documents: null}
UNWIND $keys AS key
MATCH (community:__Community__ {key: key})
CALL (community) {
  MATCH (e:__Entity__)-[:IN_COMMUNITY]->(community)
  WITH DISTINCT e ORDER BY e.mentions DESC, e.key LIMIT $entities
  RETURN collect(e) AS entities
}
CALL (entities) {
  UNWIND entities AS e
  MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
  WHERE ($documents IS NULL OR c.document_id IN $documents)
  WITH DISTINCT e, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
  WITH c, opposite, count(e) AS shared
  WITH c, shared, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
  ORDER BY similarity DESC, shared DESC, c.id LIMIT $chunks
  RETURN collect({id: c.id, shared: shared, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks
}
RETURN key, chunks
