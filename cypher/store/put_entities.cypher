// Make sure that entities of one graph and one type are there; what chunks say about them comes after.
// :param {rows: [{key: 'k', graph: 'mention', type: 'Product', normal: 'x 100'}]}
UNWIND $rows AS row
MERGE (entity:__Entity__:`GRAPH_LABEL`:`ENTITY_TYPE` {key: row.key})
ON CREATE SET entity.graph = row.graph, entity.type = row.type, entity.normal = row.normal, entity.name = row.name, entity.description = '', entity.aliases = [], entity.mentions = 0
