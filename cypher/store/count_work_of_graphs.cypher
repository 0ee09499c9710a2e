// What the extraction of each graph came to, in numbers.
MATCH (work:__Work__)
WHERE work.stage = 'extract'
RETURN work.scope AS graph, work.state AS state, count(*) AS chunks, sum(work.calls) AS calls, sum(work.tokens) AS tokens, sum(work.completion_tokens) AS completion_tokens, sum(work.cost) AS cost, sum(work.seconds) AS seconds
