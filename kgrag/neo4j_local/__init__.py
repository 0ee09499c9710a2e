"""A local Neo4j for those who have none: fetched, started, looked at and stopped. `kgrag db` is its face."""
