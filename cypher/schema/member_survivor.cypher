// The members of a merge.
CREATE INDEX member_survivor IF NOT EXISTS FOR (member:__Member__) ON (member.survivor)
