// Whether there is anything in the database.
MATCH (n)
RETURN count(n) > 0 AS any
