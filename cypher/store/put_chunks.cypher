// Write new chunks of documents that are there.
// :param {rows: [{document_id: 'd', properties: {id: 'c', document_id: 'd', text: 'A text'}}]}
UNWIND $rows AS row
MATCH (document:Document {id: row.document_id})
CREATE (chunk:Chunk)-[:FROM_DOCUMENT]->(document)
SET chunk = row.properties
