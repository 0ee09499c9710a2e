// Say of entities how many chunks are about them (role title).
// :param {keys: ['k']}
UNWIND $keys AS key
MATCH (entity:__Entity__ {key: key})
OPTIONAL MATCH (entity)-[:FROM_CHUNK {role: 'title'}]->(chunk:Chunk)
WITH entity, count(chunk) AS titles
SET entity.titles = titles
