// Every entity with its labels and its vector, for an export. How many chunks are about it (titles) is counted again by the import.
MATCH (entity:__Entity__)
RETURN entity {.*, titles: null} AS properties, labels(entity) AS labels
