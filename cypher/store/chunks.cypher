// Some chunks, without vectors.
// :param {ids: ['c']}
MATCH (chunk:Chunk)
WHERE chunk.id IN $ids
RETURN chunk {.id, .document_id, .source_id, .position, .title, .headings, .section, .text, .prompted, .page_start, .page_end, .tokens, .anchors, .links, .boxes} AS chunk
