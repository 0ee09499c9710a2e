// Communities are found by key, and each is there once.
CREATE CONSTRAINT community_key IF NOT EXISTS FOR (community:__Community__) REQUIRE community.key IS UNIQUE
