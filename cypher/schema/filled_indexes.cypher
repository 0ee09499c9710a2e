// How many nodes each vector index of Neo4j had when it was last filled from them all at once.
MATCH (index:__Index__)
RETURN index.name AS name, index.nodes AS nodes
