// The vectors of all chunks.
// Only what $documents (ids; null: all) have is read.
// :param {documents: null}
MATCH (chunk:Chunk)
WHERE chunk.embedding IS NOT NULL AND ($documents IS NULL OR chunk.document_id IN $documents)
RETURN chunk.id AS id, chunk.embedding AS embedding
