// What the ledger says about one stage.
// :param {stage: 'extract', scope: 'mention'}
MATCH (work:__Work__)
WHERE work.stage = $stage AND work.scope = $scope
RETURN work {.*} AS work
