// What the store was made with.
MATCH (meta:__Meta__ {key: 'store'})
RETURN meta.schema_version AS schema_version, meta.embedder AS embedder, meta.dimensions AS dimensions
