// Chunks by what a row of their tables says, on Neo4j.
// :param {options: {indexConfig: {`vector.dimensions`: 384, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}}}
CREATE VECTOR INDEX table_row_embedding IF NOT EXISTS FOR (row:__TableRow__) ON (row.embedding) OPTIONS $options
