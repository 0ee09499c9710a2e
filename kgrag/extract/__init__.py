"""Extractors: from a chunk to the entities and relations that it states."""
