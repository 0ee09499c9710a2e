// Who is in which community of a graph.
// :param {graph: 'mention'}
MATCH (entity:`GRAPH_LABEL`)-[:IN_COMMUNITY]->(community:__Community__)
RETURN community.key AS key, entity.key AS member
