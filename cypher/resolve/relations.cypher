// Relations that begin or end at entities, each once, with the chunks that say them.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
MATCH (entity)-[relation]-(:__Entity__)
WHERE relation.chunks IS NOT NULL
WITH DISTINCT relation
RETURN startNode(relation).key AS head, type(relation) AS type, endNode(relation).key AS tail, relation.chunks AS chunks, relation.descriptions AS descriptions, relation.reasons AS reasons
