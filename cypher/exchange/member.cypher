// Every entity that went into another, with its vector, for an export.
MATCH (member:__Member__)
RETURN properties(member) AS properties
