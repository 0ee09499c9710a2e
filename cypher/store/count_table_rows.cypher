// How many rows of tables have a vector.
MATCH (row:__TableRow__)
RETURN count(*) AS rows
