// Delete some predicted edges of a graph; again until nothing is left.
// :param {graph: 'mention', limit: 5000}
MATCH (:`GRAPH_LABEL`)-[predicted:__PREDICTED__]->(:__Entity__)
WITH predicted LIMIT $limit
DELETE predicted
