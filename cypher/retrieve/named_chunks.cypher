// The chunks that are about (role title) an entity whose normal form the question may contain, or into which one of that form was merged.
// No mention is looked at of an entity that no chunk is about (titles; nothing where that was not counted yet).
// Parameters: $graph, $normals normal forms of the question's word sequences, $vector the question's vector, $limit chunks of each entity,
// $among ids of chunks that are returned besides where they are about it.
// Returns for each entity the normal form that was found and its spellings, the chunks about it, nearest to the question first, and of a name of
// one word how often the nearest of them write it as it is (as_name) and all in small letters (as_word).
// Only what $documents (ids; null: all) have is read.
// :param {graph: 'mention', normals: ['x100'], vector: [0.1, 0.2], limit: 10, among: [], documents: null}
UNWIND $normals AS normal
MATCH (e:__Entity__ {normal: normal})
WHERE e.graph = $graph AND coalesce(e.titles, 1) > 0
MATCH (e)-[:FROM_CHUNK {role: 'title'}]->(c:Chunk)
WHERE ($documents IS NULL OR c.document_id IN $documents)
WITH DISTINCT normal, e, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH normal, e, c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY similarity DESC, c.id
WITH normal, e, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks,
     collect(CASE WHEN e.name CONTAINS ' ' THEN NULL ELSE c END)[0..$limit] AS texts
RETURN e.key AS key, e.name AS name, normal, e.aliases AS aliases, chunks[0..$limit] + [c IN chunks[$limit..] WHERE c.id IN $among] AS chunks,
       reduce(times = 0, c IN texts | times + size(split(c.text, ' ' + e.name)) - 1) AS as_name,
       reduce(times = 0, c IN texts | times + size(split(c.text, ' ' + toLower(e.name))) - 1) AS as_word
UNION ALL
UNWIND $normals AS normal
MATCH (m:__Member__ {normal: normal})-[:MERGED_INTO]->(e:__Entity__)
WHERE m.graph = $graph AND e.normal <> normal AND coalesce(e.titles, 1) > 0
MATCH (e)-[:FROM_CHUNK {role: 'title'}]->(c:Chunk)
WHERE ($documents IS NULL OR c.document_id IN $documents)
WITH DISTINCT normal, e, c, vector.similarity.cosine([1.0], [-1.0]) AS opposite
WITH normal, e, c, (vector.similarity.cosine(c.embedding, $vector) - opposite) / (1.0 - opposite) AS similarity
ORDER BY similarity DESC, c.id
WITH normal, e, collect({id: c.id, similarity: similarity, document_id: c.document_id, position: c.position}) AS chunks,
     collect(CASE WHEN e.name CONTAINS ' ' THEN NULL ELSE c END)[0..$limit] AS texts
RETURN e.key AS key, e.name AS name, normal, e.aliases AS aliases, chunks[0..$limit] + [c IN chunks[$limit..] WHERE c.id IN $among] AS chunks,
       reduce(times = 0, c IN texts | times + size(split(c.text, ' ' + e.name)) - 1) AS as_name,
       reduce(times = 0, c IN texts | times + size(split(c.text, ' ' + toLower(e.name))) - 1) AS as_word
