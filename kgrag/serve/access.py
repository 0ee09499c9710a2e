"""Who may do what: tokens and passwords with roles, sessions of the page, and how often somebody may try.

A token is 256 random bits; the file keeps its SHA-256 alone, which is enough for what nobody can guess. Of a password it keeps the Argon2id
hash, with the parameters of RFC 9106 that `argon2-cffi` takes: 64 MiB and three passes.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal, get_args

from kgrag.common.toml_files import read_toml
from kgrag.common.whole_files import append_whole
from kgrag.errors import InputError

__all__ = ["ANYBODY", "Access", "Attempts", "Role", "User", "add_user", "read_access", "read_users"]

Role = Literal["ask", "curate", "admin"]
"""`ask` asks and gives feedback; `curate` also uploads, builds and deletes; `admin` also sees what others passed on."""
ROLES: tuple[Role, ...] = get_args(Role)
NAME = re.compile(r"[\w.@-]{1,64}")
GROUP = re.compile(r"[\w .@-]{1,64}")
SESSION_S = 12 * 3600
MAX_SESSIONS = 10_000
MAX_ADDRESSES = 10_000
TRIES_PER_MINUTE = 10
"""Wrong tokens and passwords of one address, and wrong passwords for one name."""
HASHES_AT_ONCE = 2
MIN_PASSWORD, MAX_PASSWORD = 10, 200


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

    def forgive(self, key: str) -> None:
        """Take the last try back: it was none."""
        made = self._recent(key)
        if made:
            made.pop()

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

    def __init__(
        self,
        users: Mapping[str, User] | None = None,
        passwords: Mapping[str, str] | None = None,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._users = dict(users or {})
        self._by_name = {user.name: user for user in self._users.values()}
        self._passwords = dict(passwords or {})
        """Name → Argon2id hash."""
        self._hashing = asyncio.Semaphore(HASHES_AT_ONCE)
        self._sessions: OrderedDict[str, tuple[User, float]] = OrderedDict()
        self._now = now
        self.wrong = Attempts(TRIES_PER_MINUTE)

    @property
    def is_open(self) -> bool:
        """Whether nobody has to say who they are."""
        return not self._users

    def user_of_token(self, token: str) -> User | None:
        """Return whose token it is."""
        return self._users.get(_digest(token))

    async def user_of_password(self, name: str, password: str) -> User | None:
        """Return who has that password. As much is computed for a name that is not known, so that the time does not tell."""
        from argon2 import PasswordHasher
        from argon2.exceptions import InvalidHashError, VerificationError

        known = self._passwords.get(name)

        def verified() -> bool:
            try:
                return PasswordHasher().verify(known or _hash_of_nobody(), password)
            except (VerificationError, InvalidHashError):
                return False

        async with self._hashing:  # each takes 64 MiB
            right = await asyncio.to_thread(verified)
        return self._by_name[name] if right and known is not None else None

    def open_session(self, user: User) -> str:
        """Return the secret of a new session."""
        secret = secrets.token_urlsafe(32)
        self._sessions[_digest(secret)] = (user, self._now() + SESSION_S)
        while len(self._sessions) > MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return secret

    def user_of_session(self, secret: str) -> User | None:
        """Return whose session it is, unless it has ended."""
        user, until = self._sessions.get(_digest(secret), (None, 0.0))
        return user if self._now() < until else None

    def end_session(self, secret: str) -> None:
        """Forget a session."""
        self._sessions.pop(_digest(secret), None)


def read_access(file: Path) -> Access:
    """Read a file of users. Raises `InputError`."""
    return Access(read_users(file), _read_passwords(file))


def _read_passwords(file: Path) -> dict[str, str]:
    entries = read_toml(file)
    found = {name: entry["password_argon2"] for name, entry in entries.items() if "password_argon2" in entry}
    for name, said in found.items():
        if not isinstance(said, str) or not said.startswith("$argon2id$"):
            raise InputError(
                f"{file}: user {name[:64]!r}: expected password_argon2 as kgrag users add --password writes it."
            )
    return found


def read_users(file: Path) -> dict[str, User]:
    """Read a file of users: SHA-256 of the token → user. Raises `InputError`."""
    try:
        content = read_toml(file)
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


def add_user(file: Path, name: str, role: Role, groups: Sequence[str] = (), *, password: str | None = None) -> str:
    """Add a user to a file, made if it is not there, readable by its owner only; return the token, which nothing else keeps.

    With a password they can log in on the page by their name. Raises `InputError` for a name that is taken or not one, and for a password
    that is too short.
    """
    if password is not None and not MIN_PASSWORD <= len(password) <= MAX_PASSWORD:
        raise InputError(f"Expected a password of {MIN_PASSWORD} to {MAX_PASSWORD} characters, got {len(password)}.")
    if not NAME.fullmatch(name):
        raise InputError(f"Expected a name of letters, digits and . _ @ -, at most 64, got {name[:80]!r}.")
    for group in groups:
        if not GROUP.fullmatch(group):
            raise InputError(
                f"Expected a group's name of letters, digits, spaces and . _ @ -, at most 64, got {group[:80]!r}."
            )
    known = read_users(file) if file.exists() and file.stat().st_size else {}
    if any(user.name == name for user in known.values()):
        raise InputError(f"{file}: has a user {name!r} already. Remove that entry first.")
    token = secrets.token_urlsafe(32)
    file.parent.mkdir(parents=True, exist_ok=True)
    said = f"groups = {json.dumps(list(groups), ensure_ascii=False)}\n" if groups else ""
    if password is not None:
        from argon2 import PasswordHasher

        said += f'password_argon2 = "{PasswordHasher().hash(password)}"\n'
    entry = f'["{name}"]\nrole = "{role}"\n{said}token_sha256 = "{_digest(token)}"\n\n'
    append_whole(file, entry.encode())
    return token


@cache
def _hash_of_nobody() -> str:
    from argon2 import PasswordHasher

    return PasswordHasher().hash(secrets.token_urlsafe(16))


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "replace")).hexdigest()
