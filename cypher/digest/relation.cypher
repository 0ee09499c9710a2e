// Every relation between entities with its type, for the digest; what is predicted is no content.
MATCH (head:__Entity__)-[relationship]->(tail:__Entity__)
WHERE type(relationship) <> '__PREDICTED__'
RETURN head.key AS source, tail.key AS target, type(relationship) AS type, properties(relationship) AS properties
