// The names of all indexes on Neo4j; that of a constraint is the constraint's.
SHOW INDEXES YIELD name RETURN name
