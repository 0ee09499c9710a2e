// The number of relations of each graph.
MATCH (head:__Entity__)-[relation]->(:__Entity__)
RETURN head.graph AS graph, count(relation) AS relations
