// The chunks of a document by its path, all of them or those of the section that an anchor is in.
// Parameters: $path, $anchor ('' for the whole document).
// Only what $documents (ids; null: all) have is read.
// :param {path: 'docs/a.html', anchor: 'supply', documents: null}
MATCH (d:Document {path: $path})<-[:FROM_DOCUMENT]-(c:Chunk)
WHERE ($anchor = '' OR $anchor IN c.anchors) AND ($documents IS NULL OR d.id IN $documents)
RETURN c.id AS id, d.id AS document_id, c.position AS position, c.embedding AS embedding
ORDER BY position, id
