"""A store as files, and back: what `kgrag export` writes and `kgrag import` reads.

A folder of CSV files, one for each kind of node and relationship, in the dialect of Neo4j's own `neo4j-admin database import`, and
`manifest.json`, written last. The content is whole: vectors, groups, boxes, merges, communities and the ledger with what work took.
"""
