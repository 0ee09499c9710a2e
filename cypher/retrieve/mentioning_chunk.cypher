// Whether any chunk has what a full-text query asks for: one such chunk, or none.
// Parameters: $index name of the full-text index, $query escaped Lucene query.
// Only what $documents (ids; null: all) have is read.
// :param {index: 'chunk_prompted', query: 'warranty', documents: null}
CALL db.index.fulltext.queryNodes($index, $query) YIELD node, score
WHERE ($documents IS NULL OR node.document_id IN $documents)
RETURN node.id AS id
LIMIT 1
