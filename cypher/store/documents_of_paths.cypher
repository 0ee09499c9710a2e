// The documents of some files.
// :param {paths: ['manuals/x100.html']}
MATCH (document:Document)
WHERE document.path IN $paths
RETURN document {.*} AS document
