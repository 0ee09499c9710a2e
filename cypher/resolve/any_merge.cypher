// Whether any entities are merged.
MATCH (merge:__Merge__)
RETURN merge.key AS key LIMIT 1
