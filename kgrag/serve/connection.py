"""How long the desk waits for the head of a request."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HeadInTime"]

HEAD_S = 60.0
"""From the connection, or from the first byte of a further request on it."""


class HeadInTime(H11Protocol):
    """uvicorn's HTTP/1.1, which closes a connection on which the head of a request does not become whole: uvicorn itself waits for ever."""

    _head_due: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Expect a head from now on."""
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        """Read on; bytes of a head that is not whole give it no more time."""
        super().data_received(data)
        if self._answers():
            self._expect_no_head()
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget what was expected."""
        self._expect_no_head()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Leave the connection to uvicorn's keep-alive, also after a response that was whole at once."""
        self._expect_no_head()
        super().on_response_complete()

    def _answers(self) -> bool:
        """Whether a request has come whose response is not whole."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _expect_head(self) -> None:
        if self._head_due is None:
            self._head_due = self.loop.call_later(HEAD_S, self._close)

    def _expect_no_head(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _close(self) -> None:
        if not self._answers() and not self.transport.is_closing():
            self.transport.close()
