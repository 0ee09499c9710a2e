// Which of some chunks are in the store.
// :param {ids: ['c']}
MATCH (chunk:Chunk)
WHERE chunk.id IN $ids
RETURN chunk.id AS id
