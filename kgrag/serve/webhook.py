"""Tickets sent to an address of the operator's: once each, without following where it leads, and not into the network that the desk is in.

The address is the operator's own, but its name is looked up by whoever answers for it, and what answers may redirect: so the name is looked
up here, each of its addresses has to be a public one, the connection goes to the one that was looked at, and no redirect is followed.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2

from kgrag.errors import InputError

__all__ = ["Webhook"]

TIMEOUT_S = 10.0
TRIES = 3
WAIT_S = 2.0
"""Before the second try, twice as long before the third."""


@dataclass(frozen=True, slots=True)
class Webhook:
    """Where tickets are posted as JSON. `allows_private` lets it be an address of the own network."""

    url: str
    allows_private: bool = False

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.password:
            raise InputError(
                f"--webhook: expected an http or https address without a login in it, got {self.url[:200]!r}."
            )

    async def send(self, ticket: dict[str, Any]) -> str:
        """Post a ticket; return what came of it: `delivered`, or why it was not."""
        said = ""
        for number in range(TRIES):
            if number:
                await asyncio.sleep(WAIT_S * number)
            try:
                status = await self._post(ticket)
            except InputError as error:
                return str(error)
            except (httpx2.HTTPError, OSError) as error:
                said = f"{type(error).__name__}"
                continue
            if 200 <= status < 300:
                return "delivered"
            said = f"answered {status}"
            if status < 500:
                break
        logging.getLogger("kgrag.serve").warning("webhook: a ticket was not delivered: %s", said)
        return said

    async def _post(self, ticket: dict[str, Any]) -> int:
        parts = urlsplit(self.url)
        assert parts.hostname is not None  # noqa: S101  (checked when it was made)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        address = await self._looked_up(parts.hostname, port)
        bracketed = f"[{address}]" if ":" in address else address
        there = parts._replace(netloc=f"{bracketed}:{port}").geturl()
        async with httpx2.AsyncClient(timeout=TIMEOUT_S, follow_redirects=False, trust_env=False) as client:
            reply = await client.post(
                there, json=ticket, headers={"Host": parts.netloc}, extensions={"sni_hostname": parts.hostname}
            )
        return reply.status_code

    async def _looked_up(self, host: str, port: int) -> str:
        """Return an address of a name. Raises `InputError` where one of them is not public."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in found]
        if not self.allows_private:
            for one in addresses:
                if not ipaddress.ip_address(one.partition("%")[0]).is_global:
                    raise InputError(
                        f"--webhook: {host} is {one}, an address of the own network. --webhook-private allows it."
                    )
        return addresses[0]
