// The chunks of some documents, without vectors.
// :param {document_ids: ['d']}
MATCH (chunk:Chunk)
WHERE chunk.document_id IN $document_ids
RETURN chunk {.id, .document_id, .source_id, .position, .title, .headings, .section, .text, .prompted, .page_start, .page_end, .tokens, .anchors, .links, .boxes} AS chunk
