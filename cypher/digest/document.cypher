// Every document, for the digest.
MATCH (document:Document)
RETURN document {.*} AS properties
