// Which community is a part of which, for the digest.
MATCH (community:__Community__)-[relationship:PARENT_COMMUNITY]->(parent:__Community__)
RETURN community.key AS source, parent.key AS target, properties(relationship) AS properties
