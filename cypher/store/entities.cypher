// Some entities: what an embedder reads of them.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
RETURN entity.key AS key, entity.name AS name, entity.type AS type, entity.description AS description
