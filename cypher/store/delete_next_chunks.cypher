// Take the reading order of documents away, to be written anew.
// :param {document_ids: ['d']}
MATCH (chunk:Chunk)
WHERE chunk.document_id IN $document_ids
MATCH (chunk)-[next:NEXT_CHUNK]->(:Chunk)
DELETE next
