// The links of a chunk as its metadata says them.
// Parameters: $id of the chunk.
// Only what $documents (ids; null: all) have is read.
// :param {id: 'c', documents: null}
MATCH (c:Chunk {id: $id})
WHERE ($documents IS NULL OR c.document_id IN $documents)
RETURN c.links AS links
