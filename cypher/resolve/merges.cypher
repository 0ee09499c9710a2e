// The merges of one graph: the entity that stayed, its members, and why.
// :param {graph: 'mention'}
MATCH (merge:__Merge__)
WHERE merge.graph = $graph
RETURN merge.key AS survivor, merge.members AS members, merge.reasons AS reasons
