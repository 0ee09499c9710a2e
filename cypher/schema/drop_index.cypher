// The vector index of a graph that is deleted.
DROP INDEX `INDEX_NAME` IF EXISTS
