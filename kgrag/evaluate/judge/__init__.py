"""Judging answers: typed verdicts, and metrics that are pure functions of them."""
