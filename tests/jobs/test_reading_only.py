"""A store that was opened to be read is not changed by who opened it."""

from pathlib import Path

import pytest

import kgrag
from kgrag.errors import InputError


def test_an_open_store_that_only_reads_refuses_to_be_changed(tmp_path: Path) -> None:
    page = tmp_path / "pump.md"
    page.write_text("# Pump P-1\n\nThe pump P-1 draws 5 W.\n", encoding="utf-8")
    with kgrag.open(tmp_path / "store") as graph:
        graph.build(page)
        digest = graph.digest()
        with pytest.raises(InputError, match="limited by where"):
            graph.where("format=md").build(page)
    page.write_text("# Pump P-2\n\nThe pump P-2 draws 7 W.\n", encoding="utf-8")
    with kgrag.open(tmp_path / "store", reads_only=True) as reader:
        for change in (
            lambda: reader.build(page),
            lambda: reader.delete("Pump P-1"),
            reader.undo_resolve,
            reader.communities,
        ):
            with pytest.raises(InputError, match="reads_only=True"):
                change()
        assert reader.communities(dry_run=True) is not None
        with pytest.raises(InputError, match=r"communities: k: .* greater than or equal to 0 .*Did you mean cutoff\?"):
            reader.communities(k=-1, cutof=0.5, dry_run=True)
        assert reader.digest() == digest
