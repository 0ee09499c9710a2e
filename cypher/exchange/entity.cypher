// Every entity with its labels and its vector, for an export.
MATCH (entity:__Entity__)
RETURN properties(entity) AS properties, labels(entity) AS labels
