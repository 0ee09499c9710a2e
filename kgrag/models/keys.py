"""Keys: read from the environment or from a file named by it, and never shown.

A key lives in a `SecretStr`, which prints as asterisks; it is in no setting, no cache key, no log and no store. What an endpoint says in an
error may repeat it: such text goes through `redacted`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from kgrag.errors import ModelError

__all__ = ["SHORTEST_KEY", "SHOWN_INSTEAD", "Key", "read_key", "redacted"]

SHOWN_INSTEAD = "[key]"
SHORTEST_KEY = 8
"""A shorter one is a word that replies may have."""
LOOKS_LIKE_A_KEY = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_*-]{6,}|(?<=Bearer )\S+")
USER_IN_URL = re.compile(r"(?:(?<=://)|^)[^/\s@]+@")


@dataclass(frozen=True, slots=True)
class Key:
    """A key and where it comes from."""

    secret: SecretStr | None
    source: str
    """`OPENAI_API_KEY`, `the file named by OPENAI_API_KEY_FILE`, or what to set where there is none."""

    @property
    def value(self) -> str | None:
        """The key itself: only for the client that sends it."""
        return None if self.secret is None else self.secret.get_secret_value()


def read_key(variables: Sequence[str], *, key_file: Path | None = None, required: bool) -> Key:
    """Read a key from the first of these environment variables that is set, from the file that `VARIABLE_FILE` names, or from `key_file`.

    A setting goes before the environment: with `key_file` only that file is read. Raises `ModelError` where a required key is missing or
    a file with one cannot be read; the message names variables and files, never a key.
    """
    if key_file is not None:
        return _checked(_from_file(key_file, f"api_key_file {key_file}"), f"the file {key_file}")
    for variable in variables:
        if value := os.environ.get(variable, "").strip():
            return _checked(value, variable)
        if named := os.environ.get(f"{variable}_FILE", "").strip():
            source = f"the file named by {variable}_FILE"
            return _checked(_from_file(Path(named), f"{variable}_FILE={named}"), source)
    wanted = " or ".join(f"{variable} (or {variable}_FILE, the path of a file with the key)" for variable in variables)
    if required:
        raise ModelError(
            f"no key: expected it in the environment as {wanted}. A key is never given as a flag or setting."
        )
    return Key(None, wanted)


def redacted(text: str, *keys: Key) -> str:
    """Return a text without these keys, without what looks like one, and without users and passwords of URLs."""
    for key in keys:
        if key.value:
            text = text.replace(key.value, SHOWN_INSTEAD)
    return USER_IN_URL.sub("", LOOKS_LIKE_A_KEY.sub(SHOWN_INSTEAD, text))


def _from_file(path: Path, named: str) -> str:
    try:
        text = path.expanduser().read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise ModelError(f"{named}: expected a file with a key, but it cannot be read: {reason}.") from None
    if not text:
        raise ModelError(f"{named}: expected a file with a key; it is empty.")
    return text


def _checked(value: str, source: str) -> Key:
    if not value.isascii() or not value.isprintable() or " " in value:
        raise ModelError(
            f"The key in {source} has spaces, line breaks or letters that no key has: expected the bare key and nothing else."
        )
    return Key(SecretStr(value), source)
