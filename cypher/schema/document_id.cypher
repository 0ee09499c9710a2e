// Documents are found by id, and each is there once.
CREATE CONSTRAINT document_id IF NOT EXISTS FOR (document:Document) REQUIRE document.id IS UNIQUE
