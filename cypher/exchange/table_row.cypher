// Every row of a table with its vector, for an export.
MATCH (row:__TableRow__)
RETURN properties(row) AS properties
