// What writers began and have not ended.
// :param {stage: 'write', subject: 'unfinished'}
MATCH (work:__Work__)
WHERE work.subject = $subject AND work.stage = $stage
RETURN work {.*} AS work
