// Which chunks some documents have.
// :param {document_ids: ['d']}
MATCH (chunk:Chunk)
WHERE chunk.document_id IN $document_ids
RETURN chunk.id AS id, chunk.document_id AS document_id
