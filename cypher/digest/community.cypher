// Every community with its labels, its vector as its length, for the digest.
MATCH (community:__Community__)
RETURN community {.*, embedding: size(community.embedding)} AS properties, labels(community) AS labels
