// Rows of tables are found by id, and each is there once.
CREATE CONSTRAINT table_row_id IF NOT EXISTS FOR (row:__TableRow__) REQUIRE row.id IS UNIQUE
