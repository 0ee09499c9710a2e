// Forget some of what was done about a deleted graph; again until nothing is left.
// :param {stage: 'extract', scope: 'mention', limit: 5000}
MATCH (work:__Work__)
WHERE work.stage = $stage AND work.scope = $scope
WITH work LIMIT $limit
DELETE work
