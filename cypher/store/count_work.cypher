// The ledger in numbers.
MATCH (work:__Work__)
RETURN work.stage AS stage, work.state AS state, count(*) AS entries, sum(work.tokens) AS tokens, sum(work.cost) AS cost, sum(work.seconds) AS seconds
