"""How long the desk waits for the head of a request, and for whoever does not take its response."""

from __future__ import annotations

import asyncio
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

__all__ = ["HeadInTime"]

HEAD_S = 60.0
"""From the connection, or from the first byte of a further request on it."""
TAKEN_S = 120.0
"""In which somebody has to take 50,000 bytes of a response that waits for them."""


class HeadInTime(H11Protocol):
    """uvicorn's HTTP/1.1, which closes a connection on which the head of a request does not become whole, or whose response nobody takes.

    uvicorn itself waits for ever.
    """

    _head_due: asyncio.TimerHandle | None = None
    _taken_due: asyncio.TimerHandle | None = None

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
        self._expect_no_taking()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Leave the connection to uvicorn's keep-alive, also after a response that was whole at once."""
        self._expect_no_head()
        super().on_response_complete()

    def pause_writing(self) -> None:
        """Expect the response to be taken from now on."""
        super().pause_writing()
        if self._taken_due is None:
            self._taken_due = self.loop.call_later(TAKEN_S, self.transport.abort)

    def resume_writing(self) -> None:
        """Some of it was taken."""
        self._expect_no_taking()
        super().resume_writing()

    def shutdown(self) -> None:
        """Let what is answered be answered, but wait for no body that is not whole."""
        cycle: Any = self.cycle
        if self._answers() and cycle.more_body and not cycle.response_started:
            self.transport.close()
        else:
            super().shutdown()

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

    def _expect_no_taking(self) -> None:
        if self._taken_due is not None:
            self._taken_due.cancel()
            self._taken_due = None

    def _close(self) -> None:
        if not self._answers() and not self.transport.is_closing():
            self.transport.close()
