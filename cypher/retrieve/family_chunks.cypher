// The chunks about whatever has a name that begins with a family's: Nicla Voice and Nicla Sense ME for `nicla`. That a word ends there is for the caller to see.
// Parameters: $graph, $families normal forms, $vector the question's vector, $limit chunks of each member,
// $among ids of chunks that are returned besides where they are about it.
// Returns for each member the chunks about it, nearest to the question first.
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', families: ['nicla'], vector: [0.1, 0.2], limit: 10, among: [], documents: null}
UNWIND $families AS family
MATCH (e:__Entity__)
WHERE e.normal STARTS WITH family AND e.graph = $graph AND coalesce(e.titles, 1) > 0
MATCH (e)-[:FROM_CHUNK {role: 'title'}]->(c:Chunk)
WHERE ($documents IS NULL OR c.document_id IN $documents)
WITH DISTINCT family, e, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH family, e, c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY similarity DESC, c.id
WITH family, e, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks
RETURN family, e.key AS key, e.name AS name, e.normal AS normal, chunks[0..$limit] + [c IN chunks[$limit..] WHERE c.id IN $among] AS chunks
ORDER BY family, key
