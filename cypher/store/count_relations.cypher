// The number of relations of each graph, SIMILAR left out.
MATCH (head:__Entity__)-[relation]->(:__Entity__)
WHERE type(relation) <> 'SIMILAR'
RETURN head.graph AS graph, count(relation) AS relations
