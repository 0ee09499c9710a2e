"""Labels and relationship types: the only thing that is ever put into the text of a Cypher statement.

Graph names come from users and are refused where they are wrong. Types come from extractors, language models among them, and are mended:
the same type always becomes the same identifier, and no type can become one of the schema's own or break out of its back-ticks.
An entity type and a relationship type never become the same identifier, because ArcadeDB has one name space for both.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from kgrag.errors import IdentifierError
from kgrag.types import content_id

__all__ = ["community_label", "entity_type", "graph_label", "quoted", "relation_type"]

MAX_TYPE_LENGTH = 64
MAX_GRAPH_LENGTH = 48
LONGEST_READ = 256
"""Characters of a type; what is longer is not a type, and is not worth more than telling it apart."""
UNKNOWN_ENTITY_TYPE = "Thing"
UNKNOWN_RELATION_TYPE = "RELATED_TO"
OWN_LABELS = frozenset({"chunk", "document"})
"""Labels of the schema in lower case; those that begin with two underscores cannot come about."""
OWN_RELATIONS = frozenset(
    {
        "FROM_CHUNK",
        "ROW_OF",
        "FROM_DOCUMENT",
        "LINKS_TO",
        "NEXT_CHUNK",
        "SIMILAR",
        "IN_COMMUNITY",
        "PARENT_COMMUNITY",
        "MERGED_INTO",
    }
)

_ALLOWED = re.compile(r"\w[\w -]*", re.UNICODE)
_GRAPH_NAME = re.compile(r"[^\W_][\w.-]*", re.UNICODE)


@lru_cache(maxsize=4096)
def entity_type(written: str) -> str:
    """Make a label of an entity type: `Product` stays, `ORGANIZATION` is `Organization`, `Chunk` is `Chunk_`, and nothing is `Thing`."""
    words = " ".join(_words(written))
    if not any(c.islower() for c in words):
        words = _whole_letters(words.capitalize())
    if not any(c.islower() for c in words):  # `A0`: it could equal a relationship type
        words = _whole_letters(words.lower())
    if words.casefold() in OWN_LABELS:
        words += "_"
    return _short(words) or UNKNOWN_ENTITY_TYPE


@lru_cache(maxsize=4096)
def relation_type(written: str) -> str:
    """Make a relationship type: upper case, words joined by underscores; `has part` becomes `HAS_PART`, nothing becomes `RELATED_TO`."""
    # Some letters have no upper case: with one of them it could equal an entity type.
    words = (
        "".join(c for c in _whole_letters(word.upper()) if not c.islower())
        for word in _words(written, divide=r"[\W_]+")
    )
    joined = "_".join(word for word in words if word)
    if joined and not any(c.isupper() for c in joined):
        joined = f"REL_{joined}"
    if joined in OWN_RELATIONS:
        joined += "_"
    return _short(joined).upper() or UNKNOWN_RELATION_TYPE


def graph_label(graph: str) -> str:
    """Make the label that the entities of a graph carry. Raises `IdentifierError` for a name that is not letters, digits, `_`, `-`, `.`."""
    if not _GRAPH_NAME.fullmatch(graph) or len(graph) > MAX_GRAPH_LENGTH:
        raise IdentifierError(
            f"Graph name: expected a letter or digit, then letters, digits, '_', '-' or '.', at most {MAX_GRAPH_LENGTH} in all; "
            f"got {graph[:80]!r}. Choose another name."
        )
    return f"__Graph_{graph}__"


def community_label(graph: str, level: int) -> str:
    """Make the label that the communities of one level of a graph carry. Raises `IdentifierError` for a name that is not allowed."""
    if level < 0:
        raise IdentifierError(f"Level of communities: expected 0 or more, got {level}.")
    return f"{graph_label(graph).removesuffix('__').replace('__Graph_', '__Community_', 1)}_{level}__"


def quoted(identifier: str) -> str:
    """Put an identifier between back-ticks. Raises `IdentifierError` for what cannot be one: whoever calls has not made it safe."""
    if not _ALLOWED.fullmatch(identifier.replace(".", "_")) or len(identifier) > 2 * MAX_TYPE_LENGTH:
        raise IdentifierError(
            f"Identifier: expected letters, digits, '_', '-', '.' and spaces; got {identifier[:80]!r}."
        )
    return f"`{identifier}`"


def _words(written: str, *, divide: str = r"\W+") -> list[str]:
    """Split into words, in normal form KC; what is too long keeps its first words and gets a mark of its own."""
    if len(written) > LONGEST_READ:
        return [*_words(written[:32], divide=divide), content_id(written)[:8]]
    return [
        word for word in (part.strip("_") for part in re.split(divide, unicodedata.normalize("NFKC", written))) if word
    ]


def _whole_letters(words: str) -> str:
    """Leave out the marks that some letters become in the other case: `İ` is an i with a dot above, `ΐ` an Ϊ with an accent."""
    return re.sub(r"[^\w ]", "", unicodedata.normalize("NFC", words))


def _short(identifier: str) -> str:
    """Cut what is too long, and keep it apart from others with the same beginning."""
    if len(identifier) <= MAX_TYPE_LENGTH:
        return identifier
    mark = f"_x{content_id(identifier)[:8]}"  # x: what is left may have no letter, and case tells a label from a relationship type
    return identifier[: MAX_TYPE_LENGTH - len(mark)].rstrip(" _") + mark
