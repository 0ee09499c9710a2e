// Forget merges that were taken back.
// :param {survivors: ['l']}
MATCH (merge:__Merge__)
WHERE merge.key IN $survivors
DELETE merge
