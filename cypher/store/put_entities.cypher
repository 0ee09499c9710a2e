// Write new entities of one graph and one type; what chunks say about them comes after.
// :param {rows: [{key: 'k', graph: 'mention', type: 'Product', normal: 'x 100', name: 'X-100', description: '', aliases: [], mentions: 0, titles: 0}]}
UNWIND $rows AS row
CREATE (entity:__Entity__:`GRAPH_LABEL`:`ENTITY_TYPE`)
SET entity = row
