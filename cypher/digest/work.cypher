// Every work, for the digest; that edges were predicted is no content.
MATCH (work:__Work__)
WHERE work.stage <> 'complete'
RETURN work {.*} AS properties
