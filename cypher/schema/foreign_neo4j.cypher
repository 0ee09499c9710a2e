// Before the first build of a store: the labels of a node that has one of kgrag's and that kgrag therefore did not write; no row where there is none.
MATCH (node:Document|Chunk|__Entity__|__TableRow__|__Community__|__Work__|__Member__|__Merge__)
RETURN labels(node) AS labels
LIMIT 1
