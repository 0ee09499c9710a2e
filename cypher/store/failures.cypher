// What the ledger has as failed.
MATCH (work:__Work__)
WHERE work.state = 'failed'
RETURN work {.*} AS work
