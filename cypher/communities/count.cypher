// How many communities each graph has.
MATCH (community:__Community__)
RETURN community.graph AS graph, count(*) AS communities
