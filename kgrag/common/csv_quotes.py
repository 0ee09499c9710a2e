"""CSV files that people write by hand: a quotation mark that is not closed makes one cell of all that follows."""

from __future__ import annotations

import csv
import re

__all__ = ["check_quotes"]

SHOWN_CHARACTERS = 60
END_OF_ROW = re.compile(r"\r\n|\r|\n")


def check_quotes(text: str, *, delimiter: str = ",") -> None:
    """Raise `csv.Error`, with the line where the cell begins, for a quoted cell that is not closed before the text ends.

    So is one of several lines whose quotation mark is followed by more than a separator: it ended where the next cell begins.
    """
    plain = re.compile(rf"[^{re.escape(delimiter)}\r\n]*")
    quoted = re.compile(rf'"(?P<inside>[^"]*(?:""[^"]*)*)(?P<closed>"?)(?P<behind>[^{re.escape(delimiter)}\r\n]*)')
    place = 0
    while place < len(text):
        cell = quoted.match(text, place) or plain.match(text, place)
        if cell is None:
            return
        if cell.re is quoted and not (cell["closed"] and (not cell["behind"] or not END_OF_ROW.search(cell["inside"]))):
            line = len(END_OF_ROW.findall(text, 0, place)) + 1
            begins = cell[0][:SHOWN_CHARACTERS].splitlines()[0]
            raise csv.Error(
                f"the quotation mark before {begins[1:]!r} in line {line} is not closed. Close it, or write it twice within quotation "
                "marks where it is part of the text"
            )
        place = max(cell.end(), place) + 1  # the separator or the end of the line
