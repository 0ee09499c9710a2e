// What was done about some subjects in some stages, whatever the graph or embedder.
// :param {subjects: ['c'], stages: ['embed', 'extract']}
MATCH (work:__Work__)
WHERE work.subject IN $subjects AND work.stage IN $stages
RETURN work {.*} AS work
