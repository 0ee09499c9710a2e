// The communities of one level of one graph by words (BM25 over full_content), on Neo4j. ArcadeDB's index has the same analyzer.
CREATE FULLTEXT INDEX `INDEX_NAME` IF NOT EXISTS FOR (community:`COMMUNITY_LABEL`) ON EACH [community.full_content]
OPTIONS {indexConfig: {`fulltext.analyzer`: 'english'}}
