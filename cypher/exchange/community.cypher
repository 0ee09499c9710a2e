// Every community with its labels and its vector, for an export.
MATCH (community:__Community__)
RETURN properties(community) AS properties, labels(community) AS labels
