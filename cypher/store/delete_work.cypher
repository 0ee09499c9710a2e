// Forget what was done about some subjects in some stages.
// :param {subjects: ['c'], stages: ['embed', 'extract']}
MATCH (work:__Work__)
WHERE work.subject IN $subjects AND work.stage IN $stages
DELETE work
