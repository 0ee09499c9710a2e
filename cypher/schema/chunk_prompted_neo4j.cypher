// Sparse seeds on Neo4j: BM25 over what a model is shown. ArcadeDB's index has the same analyzer (Lucene's English one, with stems).
CREATE FULLTEXT INDEX chunk_prompted IF NOT EXISTS FOR (chunk:Chunk) ON EACH [chunk.prompted]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
