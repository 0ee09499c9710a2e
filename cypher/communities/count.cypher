// How many communities each graph has, and how many have a label.
MATCH (community:__Community__)
RETURN community.graph AS graph, count(*) AS communities, count(community.label) AS labelled
