// The chunks about what a chunk mentions (role title): ready passages have no hyperlinks, and a mention of a title stands for one.
// Parameters: $graph, $id of the chunk.
// Returns the name as the chunk writes it, the chunk's text, and each chunk about it.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', id: 'c', documents: null}
MATCH (s:Chunk {id: $id})<-[m:FROM_CHUNK {role: 'mention'}]-(e:__Entity__)
WHERE e.graph = $graph AND coalesce(e.titles, 1) > 0 AND ($documents IS NULL OR s.document_id IN $documents)
MATCH (e)-[:FROM_CHUNK {role: 'title'}]->(c:Chunk)
WHERE c.id <> s.id AND ($documents IS NULL OR c.document_id IN $documents)
RETURN DISTINCT m.name AS anchor, s.text AS text, c.id AS id, c.document_id AS document_id, c.position AS position, c.embedding AS embedding
ORDER BY anchor, document_id, position, id
