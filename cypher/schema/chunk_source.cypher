// The chunk of a ready passage.
CREATE INDEX chunk_source IF NOT EXISTS FOR (chunk:Chunk) ON (chunk.source_id)
