// Every entity with its labels, its vector as its length, for the digest.
MATCH (entity:__Entity__)
RETURN entity {.*, embedding: size(entity.embedding)} AS properties, labels(entity) AS labels
