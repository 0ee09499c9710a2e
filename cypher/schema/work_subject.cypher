// What was done about a document or a chunk.
CREATE INDEX work_subject IF NOT EXISTS FOR (work:__Work__) ON (work.subject)
