// Write what communities are about.
// :param {rows: [{key: 'c', label: 'Sensors', summary: 'Sensors that measure.', key_terms: ['sensor'], full_content: 'Sensors', content_hash: '00', citations: '[]', embedding: [0.6, 0.8]}]}
UNWIND $rows AS row
MATCH (community:__Community__ {key: row.key})
SET community.label = row.label, community.summary = row.summary, community.key_terms = row.key_terms,
    community.full_content = row.full_content, community.content_hash = row.content_hash, community.citations = row.citations,
    community.embedding = row.embedding
