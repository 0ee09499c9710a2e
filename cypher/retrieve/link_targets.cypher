// Where the links of a chunk lead, over the relationships: for each link, in reading order, the chunks of the section or document that it means.
// Parameters: $id of the chunk.
// Only what $documents (ids; null: all) have is read.
// :param {id: 'c', documents: null}
MATCH (:Chunk {id: $id})-[l:LINKS_TO]->(first:Chunk)-[:FROM_DOCUMENT]->(d:Document)
WHERE ($documents IS NULL OR d.id IN $documents)
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d)
WITH l, d, c, split(l.href, '#') AS parts
WHERE size(parts) = 1 OR parts[1] = '' OR parts[1] IN c.anchors
RETURN l.position AS link, l.href AS href, l.anchor AS anchor, l.context AS context, c.id AS id, d.id AS document_id, c.position AS position,
       c.embedding AS embedding
ORDER BY link, position, id
