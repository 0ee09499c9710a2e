// The chunks that may be shown, with what a citation needs of their documents.
// Parameters: $ids.
// Only what $documents (ids; null: all) have is read.
// :param {ids: ['c'], documents: null}
UNWIND $ids AS id
MATCH (c:Chunk {id: id})-[:FROM_DOCUMENT]->(d:Document)
WHERE ($documents IS NULL OR c.document_id IN $documents)
RETURN c.id AS id, c.source_id AS source_id, c.title AS title, c.section AS section, c.prompted AS prompted, c.tokens AS tokens,
       c.anchors AS anchors, c.page_start AS page_start, c.page_end AS page_end, c.boxes AS boxes, c.position AS position,
       d.id AS document_id, d.path AS path, d.title AS document_title, d.format AS format
