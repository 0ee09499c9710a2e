// Every merge with its reasons, for the digest.
MATCH (merge:__Merge__)
RETURN merge {.*} AS properties
