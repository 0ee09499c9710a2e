// The names of the graphs that something was extracted into.
MATCH (w:__Work__)
WHERE w.stage = 'extract'
RETURN DISTINCT w.scope AS graph
ORDER BY graph
