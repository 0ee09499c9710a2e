// Merges are found by the key of the entity that stayed.
CREATE CONSTRAINT merge_key IF NOT EXISTS FOR (merge:__Merge__) REQUIRE merge.key IS UNIQUE
