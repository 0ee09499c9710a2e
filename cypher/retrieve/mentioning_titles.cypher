// The chunks that mention what a chunk is about (role title), in reading order: backlinks of the mentions of titles.
// Parameters: $graph, $id of the chunk.
// Returns the name as the mentioning chunk writes it, that chunk's text, and the chunk.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', id: 'c', documents: null}
MATCH (s:Chunk {id: $id})<-[:FROM_CHUNK {role: 'title'}]-(e:__Entity__)
WHERE e.graph = $graph AND ($documents IS NULL OR s.document_id IN $documents)
MATCH (e)-[m:FROM_CHUNK {role: 'mention'}]->(c:Chunk)
WHERE c.id <> s.id AND ($documents IS NULL OR c.document_id IN $documents)
RETURN DISTINCT m.name AS anchor, c.text AS text, c.id AS id, c.document_id AS document_id, c.position AS position, c.embedding AS embedding
ORDER BY document_id, position, id, anchor
