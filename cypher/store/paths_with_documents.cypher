// Those of some files that have documents.
// :param {paths: ['manuals/x100.html']}
MATCH (document:Document)
WHERE document.path IN $paths
RETURN DISTINCT document.path AS path
