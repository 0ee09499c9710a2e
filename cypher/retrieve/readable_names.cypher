// How the chunks that may be read write the names of some entities: a name that only other documents have is not to be seen.
// Parameters: $keys of entities.
// Returns key, name and how many chunks write it so (times); of each entity the name of titles first, then the most frequent.
// Only what $documents (ids) have is read.
// :param {keys: ['k'], documents: ['d']}
MATCH (e:__Entity__)-[said:FROM_CHUNK]->(c:Chunk)
WHERE e.key IN $keys AND c.document_id IN $documents
RETURN e.key AS key, said.name AS name, count(*) AS times, max(said.role) AS role
ORDER BY key, role DESC, times DESC, name
