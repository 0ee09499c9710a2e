// The documents of a file.
CREATE INDEX document_path IF NOT EXISTS FOR (document:Document) ON (document.path)
