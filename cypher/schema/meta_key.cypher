// What the store was made with is there once.
CREATE CONSTRAINT meta_key IF NOT EXISTS FOR (meta:__Meta__) REQUIRE meta.key IS UNIQUE
