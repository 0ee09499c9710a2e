"""Measurements, each run by one command and printing one table: `python -m benchmarks.build`."""

from pathlib import Path

__all__ = ["DATA"]

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
"""Where the data sets lie that no repository has."""
