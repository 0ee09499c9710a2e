// Chunks of other documents that name what a seed names: for each seed up to $entities entities (rarest first) that at most $common chunks
// name, and of the chunks that share them up to $limit (by the rarest shared name). A name that up to $stated_common chunks have joins as
// well, where the seed states a relation between it and something that the question may name (and that at most $common chunks name, and
// that is no mere kind of thing: a question with the word sensor names no sensor).
// Parameters: $graph, $seeds ids, $vector the question's vector, $normals normal forms of the question's word sequences, $common,
// $stated_common, $ignored types that join nothing (two products with the same rating are not related by it), $kinds types that are
// kinds of things, $entities, $limit.
// Returns seed, its similarity to the question, id, similarity to the question and to the seed (alike), document and position, key, name and
// mentions of the rarest shared entity, and stated: key, normal form, name and aliases of what the seed relates to that entity.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', seeds: ['c'], vector: [0.1, 0.2], normals: ['x100'], common: 20, stated_common: 40, ignored: ['Quantity'], kinds: ['Class'], entities: 30, limit: 100, documents: null}
UNWIND $seeds AS seed
MATCH (s:Chunk {id: seed})
WHERE ($documents IS NULL OR s.document_id IN $documents)
CALL (s) {
  MATCH (s)<-[:FROM_CHUNK]-(n:__Entity__)
  WHERE n.graph = $graph AND n.mentions <= $common AND n.normal IN $normals AND NOT n.type IN $kinds
  WITH DISTINCT s, n
  MATCH (n)-[r]-(e:__Entity__)
  WHERE s.id IN r.chunks
  WITH DISTINCT n, e ORDER BY e.key, n.key
  RETURN collect({shared: e.key, key: n.key, normal: n.normal, name: n.name, aliases: n.aliases}) AS relations
}
WITH s, relations, [one IN relations | one.shared] AS related
CALL (s, related) {
  MATCH (s)<-[:FROM_CHUNK]-(e:__Entity__)
  WHERE e.graph = $graph AND NOT e.type IN $ignored AND (e.mentions <= $common OR (e.mentions <= $stated_common AND e.key IN related))
  WITH DISTINCT e ORDER BY e.mentions, e.key LIMIT $entities
  RETURN collect(e) AS entities
}
CALL (s, entities) {
  UNWIND entities AS e
  MATCH (e)-[:FROM_CHUNK]->(c:Chunk)
  WHERE c.document_id <> s.document_id AND ($documents IS NULL OR c.document_id IN $documents)
  WITH c, e ORDER BY e.mentions, e.key
  WITH c, collect(e)[0] AS rarest
  WITH c, rarest ORDER BY rarest.mentions, c.id LIMIT $limit
  RETURN collect({chunk: c, key: rarest.key, name: rarest.name, mentions: rarest.mentions}) AS shared
}
UNWIND shared AS one
WITH s, relations, one, one.chunk AS c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
RETURN s.id AS seed, (vector.similarity.cosine(s.embedding, $vector) - opposite) / (1.0 - opposite) AS seed_similarity, c.id AS id,
       (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity,
       (vector.similarity.cosine(c.embedding, s.embedding) - opposite) / (1.0 - opposite) AS alike,
       c.document_id AS document_id, c.position AS position, one.key AS key, one.name AS name, one.mentions AS mentions,
       [relation IN relations WHERE relation.shared = one.key] AS stated
ORDER BY seed, mentions, id
