// The number of relations of each graph whose head or tail no chunk was found to have.
MATCH (head:__Entity__)-[relation]->(:__Entity__)
WHERE relation.grounded = false
RETURN head.graph AS graph, count(relation) AS ungrounded
