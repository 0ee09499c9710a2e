"""Where the sample documents that are not plain text come from: the facts, the texts, one renderer for each format."""
