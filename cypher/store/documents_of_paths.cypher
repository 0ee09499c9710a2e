// The documents of some files: all, where $titles is null, else those of these titles or $ids.
// :param {paths: ['manuals/x100.html'], titles: null, ids: []}
MATCH (document:Document)
WHERE document.path IN $paths AND ($titles IS NULL OR document.title IN $titles OR document.id IN $ids)
RETURN document {.*} AS document
