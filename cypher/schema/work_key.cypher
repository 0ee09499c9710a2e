// Ledger entries are found by key, and each is there once.
CREATE CONSTRAINT work_key IF NOT EXISTS FOR (work:__Work__) REQUIRE work.key IS UNIQUE
