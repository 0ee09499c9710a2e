// The chunks of the section that a chunk is in, itself included, in reading order: those of its document under the same headings.
// Parameters: $id of the chunk.
// Only what $documents (ids; null: all) have is read.
// :param {id: 'c', documents: null}
MATCH (one:Chunk {id: $id})-[:FROM_DOCUMENT]->(d:Document)
WHERE ($documents IS NULL OR d.id IN $documents)
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
WHERE c.section = one.section
RETURN c.id AS id
ORDER BY c.position, id
