// Every hyperlink between chunks.
MATCH (source:Chunk)-[link:LINKS_TO]->(target:Chunk)
RETURN source.id AS source, target.id AS target, link.href AS href, link.anchor AS anchor, link.context AS context, link.position AS position
