// The chunks whose shown text matches the question's words best (BM25), by the full-text index.
// Parameters: $index name of the full-text index, $query escaped Lucene query, $vector the question's vector, $limit, $read how many of the
// best are returned with their text, $options of the index: {limit: how many it returns}, {} for all, among which others are then chosen.
// Returns one row: rows [{id, score (BM25), similarity in [0, 1], (1 + cosine) / 2, document, position, text}], best first. Neo4j's vector.similarity.cosine
// gives that already, ArcadeDB's gives the cosine itself: the similarity of two opposite vectors says which.
// Only what $documents (ids; null: all) have is read, and of that only $among (ids of chunks; null: all).
// :param {index: 'chunk_prompted', query: 'supply voltage', options: {limit: 50}, vector: [0.1, 0.2], limit: 10, read: 3, among: null, documents: null}
CALL db.index.fulltext.queryNodes($index, $query, $options) YIELD node, score
WHERE ($documents IS NULL OR node.document_id IN $documents) AND ($among IS NULL OR node.id IN $among)
WITH node, score ORDER BY score DESC, node.id LIMIT $limit
WITH collect({node: node, score: score}) AS hits
UNWIND range(0, size(hits) - 1) AS rank
WITH rank, hits[rank].node AS c, hits[rank].score AS score, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH rank, c, score, opposite ORDER BY rank
RETURN collect({id: c.id, score: score, similarity: (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite),
                document_id: c.document_id, position: c.position, prompted: CASE WHEN rank < $read THEN c.prompted ELSE '' END}) AS rows
