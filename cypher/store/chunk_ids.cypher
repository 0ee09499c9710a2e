// Which of some chunks are in the store.
// Returns one row: rows [id].
// :param {ids: ['c']}
MATCH (chunk:Chunk)
WHERE chunk.id IN $ids
RETURN collect(chunk.id) AS rows
