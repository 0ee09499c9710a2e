// The communities of a graph, without vectors.
// :param {graph: 'mention'}
MATCH (community:__Community__)
WHERE community.graph = $graph
OPTIONAL MATCH (community)-[:PARENT_COMMUNITY]->(parent:__Community__)
RETURN community {.key, .graph, .level, .size, .structure, .label, .summary, .key_terms, .full_content, .content_hash, .citations} AS community,
       parent.key AS parent
