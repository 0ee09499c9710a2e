// The number of relations of each graph, SIMILAR and __PREDICTED__ left out.
MATCH (head:__Entity__)-[relation]->(:__Entity__)
WHERE NOT type(relation) IN ['SIMILAR', '__PREDICTED__']
RETURN head.graph AS graph, count(relation) AS relations
