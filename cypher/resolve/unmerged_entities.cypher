// The entities of one graph as extracted: those in no merge, and the members of merges.
// :param {graph: 'mention', vectors: true}
MATCH (entity:`GRAPH_LABEL`)
WHERE entity.types IS NULL
RETURN entity.key AS key, entity.name AS name, entity.type AS type, entity.normal AS normal, entity.description AS description, entity.mentions AS mentions, CASE WHEN $vectors THEN entity.embedding ELSE null END AS embedding, null AS properties
UNION ALL
MATCH (member:__Member__)
WHERE member.graph = $graph
RETURN member.key AS key, member.name AS name, member.type AS type, member.normal AS normal, null AS description, null AS mentions, CASE WHEN $vectors THEN member.embedding ELSE null END AS embedding, member.properties AS properties
