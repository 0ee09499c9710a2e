// Whether anything was built since: how much work the ledger has, and when the last of it was done.
MATCH (w:__Work__)
RETURN count(w) AS work, max(w.at) AS at
