// How many entities of each graph have no vector.
MATCH (entity:__Entity__)
WHERE entity.embedding IS NULL
RETURN entity.graph AS graph, count(entity) AS entities
