"""The Ray cluster that an engine works on: an address that answers, and this process connected with its signals as they were."""

from __future__ import annotations

import faulthandler
import logging
import os
import signal
import socket
import threading
from typing import Any

from kgrag.errors import InputError

__all__ = ["connect", "import_ray", "join"]

INSTALL_HINT = "pip install 'kgrag[ray]'"
CONNECT_S = 10.0


def join(address: str | None) -> None:
    """Connect to the cluster at an address (`auto`, HOST:PORT), or start this process's own. Raises `InputError` where none can be."""
    if address:
        _check_address(address)
    try:
        connect(address)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        where = address or "this machine"
        reason = " ".join(str(error).split())[:300]
        raise InputError(f"--engine ray: no cluster could be reached or started at {where}: {reason}") from error


def connect(address: str | None) -> None:
    """Connect this process to the cluster there, or to one of its own, and leave its signals as they were.

    Ray handles SIGTERM and SIGINT, and twice what ends a process (SIGSEGV), by which the Java machine in this process finds null pointers.
    """
    ray = import_ray()
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    traced = faulthandler.is_enabled()
    try:
        ray.init(
            address=address or "local",
            include_dashboard=None if address else False,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    finally:
        if not traced:
            faulthandler.disable()
        if threading.current_thread() is threading.main_thread():
            for number, handler in handlers.items():
                signal.signal(number, handler)


def import_ray() -> Any:
    """Import Ray, without the handler of SIGSEGV that it would have. Raises `InputError` where it is not installed."""
    os.environ.setdefault("RAY_DISABLE_FAILURE_SIGNAL_HANDLER", "1")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise InputError(f"--engine ray needs the package ray, which is not installed. Run: {INSTALL_HINT}") from error
    return ray


def _check_address(address: str) -> None:
    """Raise `InputError` where nobody listens at HOST:PORT: Ray tries for minutes."""
    host, colon, port = address.rpartition(":")
    if not colon or "://" in address:  # `auto`, or the address of a client's server
        return
    try:
        socket.create_connection((host, int(port)), timeout=CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise InputError(
            f"--ray-address {address}: expected auto or HOST:PORT of a cluster's head node, and none answers there: {error}"
        ) from error
