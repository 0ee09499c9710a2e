// Delete chunks with all their relationships; what only they supported is gone already.
// :param {ids: ['c']}
MATCH (chunk:Chunk)
WHERE chunk.id IN $ids
DETACH DELETE chunk
