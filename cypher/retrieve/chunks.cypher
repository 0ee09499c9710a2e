// The chunks that may be shown, with what a citation needs of their documents.
// Parameters: $ids.
// Returns one row: rows [{...}].
// Only what $documents (ids; null: all) have is read.
// :param {ids: ['c'], documents: null}
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
WHERE ($documents IS NULL OR c.document_id IN $documents)
RETURN collect({id: c.id, source_id: c.source_id, title: c.title, section: c.section, prompted: c.prompted, tokens: c.tokens,
                anchors: c.anchors, page_start: c.page_start, page_end: c.page_end, boxes: c.boxes, position: c.position,
                document_id: d.id, path: d.path, document_title: d.title, format: d.format}) AS rows
