// Whether edges were ever predicted in this store: then whoever writes relations looks for those that go.
MATCH (work:__Work__)
WHERE work.subject = 'completion' AND work.stage = 'complete'
RETURN work.scope AS graph
