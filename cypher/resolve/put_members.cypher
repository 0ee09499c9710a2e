// Keep what entities were before they went into another.
// :param {rows: [{key: 'k', graph: 'mention', survivor: 'l', name: 'X100', type: 'Product', normal: 'x100', properties: '{}', mentions: '{}', relations: '[]', embedding: [0.6, 0.8]}]}
UNWIND $rows AS row
CREATE (member:__Member__)
SET member = row
