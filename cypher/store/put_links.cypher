// Write hyperlinks between chunks.
// :param {rows: [{source: 'c', target: 'd', properties: {href: 'a.html#s2', anchor: 'there', context: 'See there.', position: 0}}]}
UNWIND $rows AS row
MATCH (source:Chunk {id: row.source})
MATCH (target:Chunk {id: row.target})
CREATE (source)-[link:LINKS_TO]->(target)
SET link = row.properties
