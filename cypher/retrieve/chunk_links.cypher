// The links of a chunk as its metadata says them, with what they may mean in the chunk itself: its document's path and its anchors.
// Parameters: $id of the chunk.
// Only what $documents (ids; null: all) have is read.
// :param {id: 'c', documents: null}
MATCH (c:Chunk {id: $id})-[:FROM_DOCUMENT]->(d:Document)
WHERE ($documents IS NULL OR d.id IN $documents)
RETURN c.links AS links, d.path AS path, c.anchors AS anchors
