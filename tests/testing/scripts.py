"""A script that a server in a process of its own imports by name."""

from kgrag.testing import Behaviour, ModelRequest, answer, hanging


def shout(request: ModelRequest) -> Behaviour:
    return hanging() if "hang" in request.last else answer(request.last.upper())
