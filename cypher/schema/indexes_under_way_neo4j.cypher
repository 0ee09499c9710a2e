// The indexes on Neo4j that cannot be asked yet: how far each is, and what it failed for.
SHOW INDEXES YIELD name, state, populationPercent, failureMessage WHERE state <> 'ONLINE'
RETURN name, state, populationPercent AS percent, failureMessage AS reason
