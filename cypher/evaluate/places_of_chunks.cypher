// Where every chunk stands, by all names that gold evidence may have for it: id, id of its passage, anchors, document, pages.
// :param {}
MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN c.id AS id, c.source_id AS source_id, c.anchors AS anchors, CASE d.format WHEN 'jsonl' THEN d.title ELSE d.path END AS document,
       c.page_start AS page_start, c.page_end AS page_end
ORDER BY id
