// Take out the note of what a writer began; a row where it was there.
// :param {key: 'w'}
MATCH (work:__Work__ {key: $key})
WITH work, work.key AS key
DELETE work
RETURN key
