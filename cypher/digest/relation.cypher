// Every relation between entities with its type, for the digest.
MATCH (head:__Entity__)-[relationship]->(tail:__Entity__)
RETURN head.key AS source, tail.key AS target, type(relationship) AS type, properties(relationship) AS properties
