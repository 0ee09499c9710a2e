// The communities of one level of one graph by meaning, on Neo4j: an index for each graph and level.
// :param {options: {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}}
CREATE VECTOR INDEX `INDEX_NAME` IF NOT EXISTS FOR (community:`COMMUNITY_LABEL`) ON (community.embedding) OPTIONS $options
