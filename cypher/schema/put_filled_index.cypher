// Remember that a vector index of Neo4j was filled from all its nodes at once.
// :param {of: 'chunk_embedding', nodes: 2138}
MERGE (index:__Index__ {name: $of})
SET index.nodes = $nodes
