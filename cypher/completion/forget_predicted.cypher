// Delete the predicted edges of entities whose relations changed: what they rest on is another graph now.
// :param {keys: ['k']}
MATCH (entity:__Entity__)
WHERE entity.key IN $keys
MATCH (entity)-[predicted:__PREDICTED__]-(:__Entity__)
WITH DISTINCT predicted
DELETE predicted
