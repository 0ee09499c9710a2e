// Delete every hyperlink that leaves some chunks.
// :param {ids: ['c']}
MATCH (source:Chunk)
WHERE source.id IN $ids
MATCH (source)-[link:LINKS_TO]->(:Chunk)
DELETE link
