// Where predicted edges lead from seeds: a seed names an entity that is predicted to be related to another, and other chunks name that one.
// Parameters: $graph, $seeds ids, $vector the question's vector, $least score of an edge, $edges how many of a seed are followed (likeliest
// first), $limit chunks of each (nearest to the question first).
// Edges are learnt from what all documents say, so whoever may not read all of them ($documents is not null) gets none.
// Returns seed, source and target (name, type, mentions) of the edge, relation, score, how many chunks name the target, and those chunks.
// :param {graph: 'mention', seeds: ['c'], vector: [0.1, 0.2], least: 0.1, edges: 10, limit: 5, documents: null}
UNWIND $seeds AS seed
MATCH (s:Chunk {id: seed})<-[:FROM_CHUNK]-(e:__Entity__)-[p:__PREDICTED__]-(n:__Entity__)
WHERE $documents IS NULL AND e.graph = $graph AND p.score >= $least
WITH DISTINCT s, e, p, n ORDER BY s.id, p.score DESC, n.mentions, n.key, e.key, p.type
WITH s, collect({source: e, edge: p, target: n})[0..$edges] AS edges
UNWIND edges AS one
WITH s, one, one.source AS e, one.edge AS p, one.target AS n
MATCH (n)-[:FROM_CHUNK]->(c:Chunk)
WHERE c.id <> s.id
WITH DISTINCT s, e, p, n, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH s, e, p, n, c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY s.id, similarity DESC, c.id
WITH s, e, p, n, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks
RETURN s.id AS seed, e.name AS source, e.type AS source_type, n.name AS target, n.type AS target_type, n.mentions AS mentions,
       p.type AS relation, p.score AS score, size(chunks) AS named, chunks[0..$limit] AS chunks
ORDER BY seed, score DESC, target, source, relation
