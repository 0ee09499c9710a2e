// Members of merges are found by key, and each is in one merge only.
CREATE CONSTRAINT member_key IF NOT EXISTS FOR (member:__Member__) REQUIRE member.key IS UNIQUE
