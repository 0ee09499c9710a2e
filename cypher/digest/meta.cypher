// Every meta, for the digest.
MATCH (meta:__Meta__)
RETURN meta {.*} AS properties
