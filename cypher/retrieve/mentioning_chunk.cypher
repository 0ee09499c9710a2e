// Whether any chunk has what a full-text query asks for: one such chunk, or none.
// Parameters: $index name of the full-text index, $query escaped Lucene query, $options of the index: {limit: 1}, or {} where not all chunks may be read.
// Only what $documents (ids; null: all) have is read.
// :param {index: 'chunk_prompted', query: 'warranty', options: {}, documents: null}
CALL db.index.fulltext.queryNodes($index, $query, $options) YIELD node, score
WHERE ($documents IS NULL OR node.document_id IN $documents)
RETURN node.id AS id
LIMIT 1
