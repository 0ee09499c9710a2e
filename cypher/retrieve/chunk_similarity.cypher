// How similar some chunks are to the question, and where they stand.
// Parameters: $ids, $vector the question's vector.
// Returns id, similarity in [0, 1], document and position.
// Only what $documents (ids; null: all) have is read.
// :param {ids: ['c'], vector: [0.1, 0.2], documents: null}
UNWIND $ids AS id
MATCH (c:Chunk {id: id})
WHERE ($documents IS NULL OR c.document_id IN $documents)
WITH c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
RETURN c.id AS id, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity,
       c.document_id AS document_id, c.position AS position
