// Every row of a table that has a vector of its own, its vector as its length, for the digest.
MATCH (row:__TableRow__)
RETURN row {.*, embedding: size(row.embedding)} AS properties
