// Entities are found by key, and each is there once.
CREATE CONSTRAINT entity_key IF NOT EXISTS FOR (entity:__Entity__) REQUIRE entity.key IS UNIQUE
