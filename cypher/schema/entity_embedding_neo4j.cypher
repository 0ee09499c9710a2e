// The entities of one graph by meaning, on Neo4j: an index for each graph, so that no candidates of other graphs are in the way.
// :param {options: {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}}
CREATE VECTOR INDEX `INDEX_NAME` IF NOT EXISTS FOR (entity:`GRAPH_LABEL`) ON (entity.embedding) OPTIONS $options
