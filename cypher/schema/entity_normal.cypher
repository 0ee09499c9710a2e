// The entities of a name, whatever their type and graph.
CREATE INDEX entity_normal IF NOT EXISTS FOR (entity:__Entity__) ON (entity.normal)
