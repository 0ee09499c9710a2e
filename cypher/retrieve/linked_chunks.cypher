// Where chunks lead: a seed mentions an entity that other chunks are about (role title; titles says how many, or nothing where that was not
// counted yet), or one of $linking (ids) has an author's hyperlink to another chunk.
// Parameters: $graph, $seeds ids, $known keys of entities that the question itself names (not followed), $vector the question's vector,
// $entities how many entities of a seed are followed (rarest first; none that more than $common chunks mention), $limit chunks of each entity (nearest to the question first),
// $hyperlinks how many hyperlinks of a chunk are followed (in reading order).
// Returns seed, kind, key (empty for hyperlinks), name, mentions of the entity, how many chunks it leads to, the texts of the hyperlinks and what stands around them
// (said), and those chunks with similarity in [0, 1].
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', seeds: ['c'], linking: ['c'], known: [], common: 1000, vector: [0.1, 0.2], entities: 10, limit: 10, hyperlinks: 10, documents: null}
UNWIND $seeds AS seed
MATCH (s:Chunk {id: seed})
WHERE ($documents IS NULL OR s.document_id IN $documents)
MATCH (s)<-[:FROM_CHUNK {role: 'mention'}]-(e:__Entity__)
WHERE e.graph = $graph AND e.mentions <= $common AND NOT e.key IN $known
WITH DISTINCT s, e ORDER BY s.id, e.mentions, e.key
WITH s, collect(e)[0..$entities] AS entities
UNWIND entities AS e
WITH e, collect(s.id) AS followed
WHERE coalesce(e.titles, 1) > 0
MATCH (e)-[:FROM_CHUNK {role: 'title'}]->(c:Chunk)
WHERE $documents IS NULL OR c.document_id IN $documents
WITH DISTINCT e, followed, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH e, followed, c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY e.key, similarity DESC, c.id
WITH e, followed, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position}) AS titled
UNWIND followed AS seed
WITH e, seed, [chunk IN titled WHERE chunk.id <> seed] AS chunks
WHERE size(chunks) > 0
RETURN seed, 'mention' AS kind, e.key AS key, e.name AS name, e.mentions AS mentions, size(chunks) AS about, [] AS said, chunks[0..$limit] AS chunks
UNION ALL
UNWIND $linking AS seed
MATCH (s:Chunk {id: seed})
WHERE ($documents IS NULL OR s.document_id IN $documents)
MATCH (s)-[l:LINKS_TO]->(c:Chunk)
WHERE c.id <> s.id AND ($documents IS NULL OR c.document_id IN $documents)
WITH s, c, min(l.position) AS position, min(l.anchor) AS anchor, collect(l.anchor) + collect(l.context) AS said, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH s, c, position, anchor, said, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY s.id, position, c.id
WITH s, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position, anchor: anchor, said: said})[0..$hyperlinks] AS targets
UNWIND targets AS target
RETURN s.id AS seed, 'hyperlink' AS kind, '' AS key, target.anchor AS name, 0 AS mentions, size(targets) AS about, target.said AS said,
       [{id: target.id, similarity: target.similarity, document_id: target.document_id, position: target.position}] AS chunks
