// Remember what the store is made with.
// :param {schema_version: 1, embedder: 'minilm', dimensions: 384}
MERGE (meta:__Meta__ {key: 'store'})
SET meta.schema_version = $schema_version, meta.embedder = $embedder, meta.dimensions = $dimensions
