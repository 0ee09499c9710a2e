// Every entity with its labels, its vector as its length, for the digest. How many chunks are about it (titles) follows from FROM_CHUNK.
MATCH (entity:__Entity__)
RETURN entity {.*, embedding: size(entity.embedding), titles: null} AS properties, labels(entity) AS labels
