// Every document.
MATCH (document:Document)
RETURN document {.*} AS document
