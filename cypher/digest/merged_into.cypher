// Which entity went into which, for the digest.
MATCH (member:__Member__)-[relationship:MERGED_INTO]->(entity:__Entity__)
RETURN member.key AS source, entity.key AS target, properties(relationship) AS properties
