// Every work, for the digest.
MATCH (work:__Work__)
RETURN work {.*} AS properties
