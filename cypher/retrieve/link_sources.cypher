// The chunks whose links lead to a chunk, in reading order: backlinks.
// Parameters: $id of the chunk.
// Only what $documents (ids; null: all) have is read.
// :param {id: 'c', documents: null}
MATCH (c:Chunk)-[l:LINKS_TO]->(:Chunk {id: $id})
MATCH (c)-[:FROM_DOCUMENT]->(d:Document)
WHERE ($documents IS NULL OR d.id IN $documents)
RETURN l.position AS link, l.href AS href, l.anchor AS anchor, l.context AS context, c.id AS id, d.id AS document_id, c.position AS position,
       c.embedding AS embedding
ORDER BY document_id, position, id, link
