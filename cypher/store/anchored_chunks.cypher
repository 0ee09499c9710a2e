// Where links can lead in some documents: the chunks with their anchors.
// :param {document_ids: ['d']}
MATCH (chunk:Chunk)
WHERE chunk.document_id IN $document_ids
RETURN chunk.id AS id, chunk.document_id AS document_id, chunk.position AS position, chunk.anchors AS anchors
