// Merged entities by the name of a member.
CREATE INDEX member_normal IF NOT EXISTS FOR (member:__Member__) ON (member.normal)
