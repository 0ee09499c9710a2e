// The graphs with the number of their entities.
MATCH (entity:__Entity__)
RETURN entity.graph AS graph, count(*) AS entities
