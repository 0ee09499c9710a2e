// Until every index on Neo4j is ready to be asked.
// :param {timeout_s: 300}
CALL db.awaitIndexes($timeout_s)
