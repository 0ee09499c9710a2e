"""`kgrag ask` without a question: a session on the terminal, in which questions follow each other and the store stays open."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from kgrag.cli.output import complain, stderr, stdout
from kgrag.errors import KgragError
from kgrag.types import place

if TYPE_CHECKING:
    from kgrag.knowledge_graph import KnowledgeGraph
    from kgrag.types import Answer, Citation, Evidence

__all__ = ["Session", "terminal_reader"]

HELP = """Ask in plain words. Or:
  /sources        the sources of the last answer
  /sources 2      source 2 in full, as the document has it
  /why            how the evidence of the last answer was found
  /pipeline       which pipeline is used; /pipeline NAME takes another (kgrag pipelines lists them)
  /help           this
  /quit           end; so does Ctrl-D. Ctrl-C ends the question that is being answered
Up and down go through earlier questions."""
HISTORY_LINES = 1000


class Session:
    """Questions and commands of one user, one after the other, over one open store."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        show: Callable[[Answer], None],
        *,
        top: int | None = None,
        budget: int | None = None,
    ) -> None:
        self._graph = graph
        self._show = show
        self._top, self._budget = top, budget
        self._pipeline: str | None = None
        self._answer: Answer | None = None

    def run(self, read: Callable[[], str]) -> None:
        """Answer what `read` gives, line by line, until it raises `EOFError` or the user says so. No error ends the session."""
        stderr.print("Ask a question; /help says what else there is, Ctrl-D ends.", style="dim")
        while True:
            try:
                line = read().strip()
                if line in ("/quit", "/exit"):
                    return
                if line:
                    self.take(line)
            except EOFError:
                stderr.print()
                return
            except KeyboardInterrupt:
                stderr.print("\nStopped. Ctrl-D ends the session.", style="dim")
            except KgragError as error:
                complain(str(error))

    def take(self, line: str) -> None:
        """Answer one question, or do one command. Raises what asking raises."""
        if not line.startswith("/"):
            self._answer = self._graph.ask(line, top=self._top, budget=self._budget, pipeline=self._pipeline)
            self._show(self._answer)
            return
        command, _, argument = line[1:].partition(" ")
        match command:
            case "sources":
                self._sources(argument.strip())
            case "why":
                self._why()
            case "pipeline":
                self._take_pipeline(argument.strip())
            case "help" | "?":
                stdout.print(HELP)
            case _:
                complain(f"Expected a question or one of /sources, /why, /pipeline, /help, /quit; got /{command}.")

    def _sources(self, number: str) -> None:
        answer = self._answer
        if answer is None or not answer.sources:
            complain("There are no sources: no answer with citations was given yet.")
            return
        if not number:
            for citation in answer.sources:
                stdout.print(f"[{citation.number}] {place(citation)}")
            return
        found = [c for c in answer.sources if str(c.number) == number.strip("[]")]
        if not found:
            known = ", ".join(str(c.number) for c in answer.sources)
            complain(f"Expected the number of a source of the last answer ({known}), got {number!r}.")
            return
        piece = _piece(answer, found[0])
        stdout.print(f"[{found[0].number}] {place(found[0])}\n")
        stdout.print(piece.text if piece is not None else found[0].quote)

    def _why(self) -> None:
        if self._answer is None:
            complain("There is nothing to explain: no question was answered yet.")
            return
        stdout.print(f"pipeline {self._answer.pipeline}, answered by {self._answer.model}")
        cited = {citation.chunk_id: citation.number for citation in self._answer.sources}
        for rank, piece in enumerate(self._answer.evidence, start=1):
            mark = f" [{cited[piece.chunk_id]}]" if piece.chunk_id in cited else ""
            stdout.print(f"{rank:>3}. {piece.score:.3f}{mark} {place(piece)}: {', '.join(piece.why)}")
        for note in self._answer.notes:
            stdout.print(f"note: {note}")

    def _take_pipeline(self, name: str) -> None:
        if name:
            self._graph.retriever(name)  # says what is wrong with it now, not at the next question
            self._pipeline = name
        stdout.print(f"pipeline {self._pipeline or self._graph.settings.pipeline}")


def terminal_reader() -> Callable[[], str]:
    """Return what reads lines from the terminal, with those of earlier sessions at hand."""
    file = _history_file()
    try:
        import readline
    except ImportError:  # Windows
        return lambda: input("> ")
    with suppress(OSError):  # none yet, or not ours to read
        readline.read_history_file(file)
    readline.set_history_length(HISTORY_LINES)

    def read() -> str:
        line = input("> ")
        if line.strip():
            with suppress(
                OSError
            ):  # a home that cannot be written to: this session's questions are at hand all the same
                file.parent.mkdir(parents=True, exist_ok=True)
                readline.write_history_file(file)
        return line

    return read


def _history_file() -> Path:
    home = os.environ.get("XDG_STATE_HOME")
    return (Path(home) if home else Path.home() / ".local" / "state") / "kgrag" / "questions"


def _piece(answer: Answer, citation: Citation) -> Evidence | None:
    return next((piece for piece in answer.evidence if piece.chunk_id == citation.chunk_id), None)
