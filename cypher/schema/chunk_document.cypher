// The chunks of a document.
CREATE INDEX chunk_document IF NOT EXISTS FOR (chunk:Chunk) ON (chunk.document_id)
