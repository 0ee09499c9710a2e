// How many merges hold, in all graphs.
MATCH (merge:__Merge__)
RETURN count(merge) AS merges
