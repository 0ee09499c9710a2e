// Every entity that went into another, its vector as its length, for the digest.
MATCH (member:__Member__)
RETURN member {.*, embedding: size(member.embedding)} AS properties
