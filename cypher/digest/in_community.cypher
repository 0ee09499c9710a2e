// Who is in which community, for the digest.
MATCH (entity:__Entity__)-[relationship:IN_COMMUNITY]->(community:__Community__)
RETURN entity.key AS source, community.key AS target, properties(relationship) AS properties
