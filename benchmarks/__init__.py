"""Measurements of speed, each run by one command and printing one table: `python -m benchmarks.build`."""
