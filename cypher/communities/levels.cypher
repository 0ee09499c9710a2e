// Which levels of communities each graph has.
MATCH (community:__Community__)
RETURN DISTINCT community.graph AS graph, community.level AS level
