// How the vector indexes of Neo4j are made: the settings of each, by its name.
SHOW INDEXES YIELD name, type, options WHERE type = 'VECTOR'
RETURN name, options.indexConfig AS settings
