"""A statement: a sentence, an item or a row of a passage, with what it is about."""

from __future__ import annotations

from dataclasses import dataclass

from kgrag.answer.labels import PROPERTY

__all__ = ["Statement"]


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement of a passage. `text` is how it is quoted, `quote` the words of the passage, `start` and `end` where they stand."""

    text: str
    quote: str
    start: int
    end: int
    heading: str = ""
    """The nearest heading above it in the passage, or the last of the passage's section."""
    within: str = ""
    """The headings above that one, where it is the last of the passage's section: `Usage > JTAG commands` of `detect`."""
    label: str = ""
    """The term that its paragraph, or the one above, begins with."""
    owner: str = ""
    """Of a property (`Default: 60`) or of a value (`off: Packets are dropped.`): the setting that it is of."""
    before: str = ""
    """The sentences before it that it goes on from."""
    cells: tuple[tuple[str, str], ...] = ()
    lead: str = ""
    """Of a list: what announces it."""
    items: tuple[str, ...] = ()
    """Of a list: its items."""
    of_rows: bool = False
    """The items are a table's rows."""
    is_item: bool = False
    is_code: bool = False
    """Whether it is a line of a program, of a session or of settings."""

    @property
    def is_property(self) -> bool:
        """Whether it says something (`Default value: 60`) of what `before` describes."""
        return self.own_label and bool(self.before) and PROPERTY.match(self.label) is not None

    @property
    def own_label(self) -> bool:
        """Whether it begins with its label itself."""
        return bool(self.label) and self.text.startswith(self.label)
