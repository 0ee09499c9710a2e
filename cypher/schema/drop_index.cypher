// An index that is to go: of a graph that is deleted, or because it is filled anew.
DROP INDEX `INDEX_NAME` IF EXISTS
