"""Reranking: question and passage are read together, and the best candidates ordered by that."""
