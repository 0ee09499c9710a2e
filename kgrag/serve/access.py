"""Who may do what: tokens with roles, sessions of the page, and how often somebody may try.

A token is 256 random bits; the file keeps its SHA-256 alone, which is enough for what nobody can guess.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import time
import tomllib
from collections import OrderedDict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from kgrag.errors import InputError

__all__ = ["ANYBODY", "Access", "Attempts", "Role", "User", "add_user", "read_users"]

Role = Literal["ask", "curate", "admin"]
"""`ask` asks and gives feedback; `curate` also uploads, builds and deletes; `admin` also sees what others passed on."""
ROLES: tuple[Role, ...] = get_args(Role)
NAME = re.compile(r"[\w.@-]{1,64}")
GROUP = re.compile(r"[\w .@-]{1,64}")
SESSION_S = 12 * 3600
MAX_SESSIONS = 10_000
MAX_ADDRESSES = 10_000
TRIES_PER_MINUTE = 10
"""Wrong tokens of one address."""


@dataclass(frozen=True, slots=True)
class User:
    """Somebody with a role."""

    name: str
    role: Role
    groups: frozenset[str] | None = frozenset()
    """Whose documents they may read besides those of everybody; None: all."""

    def may(self, role: Role) -> bool:
        """Whether the role is theirs or below."""
        return ROLES.index(self.role) >= ROLES.index(role)


ANYBODY = User("local", "admin", None)
"""Whoever reaches a desk that listens on the loopback interface only and has no users."""


class Attempts:
    """Allows so many tries a minute by key; the clock is given, so that nobody has to wait."""

    def __init__(self, per_minute: int, *, now: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._now = now
        self._made: OrderedDict[str, deque[float]] = OrderedDict()

    def exceeded(self, key: str) -> bool:
        """Whether a key has no try left for now."""
        return len(self._recent(key)) >= self._per_minute

    def count(self, key: str) -> None:
        """Count a try."""
        self._recent(key).append(self._now())

    def _recent(self, key: str) -> deque[float]:
        made = self._made.setdefault(key, deque())
        self._made.move_to_end(key)
        while made and made[0] < self._now() - 60:
            made.popleft()
        while len(self._made) > MAX_ADDRESSES:
            self._made.popitem(last=False)
        return made


class Access:
    """The users of a desk. Without any, everybody who reaches it is `ANYBODY`."""

    def __init__(self, users: dict[str, User] | None = None) -> None:
        self._users = users or {}
        self._sessions: OrderedDict[str, tuple[User, float]] = OrderedDict()
        self.wrong = Attempts(TRIES_PER_MINUTE)

    @property
    def is_open(self) -> bool:
        """Whether nobody has to say who they are."""
        return not self._users

    def user_of_token(self, token: str) -> User | None:
        """Return whose token it is."""
        return self._users.get(_digest(token))

    def open_session(self, user: User) -> str:
        """Return the secret of a new session."""
        secret = secrets.token_urlsafe(32)
        self._sessions[_digest(secret)] = (user, time.monotonic() + SESSION_S)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    def user_of_session(self, secret: str) -> User | None:
        """Return whose session it is, unless it has ended."""
        user, until = self._sessions.get(_digest(secret), (None, 0.0))
        return user if time.monotonic() < until else None

    def end_session(self, secret: str) -> None:
        """Forget a session."""
        self._sessions.pop(_digest(secret), None)


def read_users(file: Path) -> dict[str, User]:
    """Read a file of users: SHA-256 of the token → user. Raises `InputError`."""
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{file}: expected a TOML file of users, as kgrag users add writes it: {error}") from error
    users = {}
    for name, entry in content.items():
        role, digest = (entry.get("role"), entry.get("token_sha256")) if isinstance(entry, dict) else (None, None)
        if role not in ROLES or not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
            raise InputError(
                f"{file}: user {name[:64]!r}: expected role ({', '.join(ROLES)}) and token_sha256 (64 hex digits), "
                "as kgrag users add writes them."
            )
        groups = entry.get("groups", [])
        if not isinstance(groups, list) or not all(isinstance(one, str) and GROUP.fullmatch(one) for one in groups):
            raise InputError(f"{file}: user {name[:64]!r}: expected groups to be a list of names, got {groups!r:.100}.")
        users[digest] = User(name, role, None if role == "admin" else frozenset(groups))
    if not users:
        raise InputError(f"{file}: has no users. Add one: kgrag users add NAME --users {file}")
    return users


def add_user(file: Path, name: str, role: Role, groups: Sequence[str] = ()) -> str:
    """Add a user to a file, made if it is not there, readable by its owner only; return the token, which nothing else keeps.

    Raises `InputError` for a name that is taken or not one.
    """
    if not NAME.fullmatch(name):
        raise InputError(f"Expected a name of letters, digits and . _ @ -, at most 64, got {name[:80]!r}.")
    for group in groups:
        if not GROUP.fullmatch(group):
            raise InputError(
                f"Expected a group's name of letters, digits, spaces and . _ @ -, at most 64, got {group[:80]!r}."
            )
    known = read_users(file) if file.exists() else {}
    if any(user.name == name for user in known.values()):
        raise InputError(f"{file}: has a user {name!r} already. Remove that entry first.")
    token = secrets.token_urlsafe(32)
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "a", encoding="utf-8") as out:  # noqa: PTH123
        said = f"groups = {json.dumps(list(groups), ensure_ascii=False)}\n" if groups else ""
        out.write(f'["{name}"]\nrole = "{role}"\n{said}token_sha256 = "{_digest(token)}"\n\n')
    return token


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
