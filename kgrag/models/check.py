"""Whether the configured models are there: one tiny call to each, and a verdict in one line."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np

from kgrag.errors import InputError, KgragError, ModelError, ModelReplyError
from kgrag.models import CHAT_MODELS, is_hosted, open_chat_model, open_embedder, open_reranker
from kgrag.models.base import ChatModel, Message
from kgrag.models.meter import Meter
from kgrag.models.reply_schema import object_of
from kgrag.models.structured import StructuredMode, parse_object, structured_mode
from kgrag.settings import Settings

__all__ = ["ROLES", "Role", "Verdict", "check_models", "exit_code", "require_models"]

Role = Literal["chat", "embedder", "reranker"]
ROLES: tuple[Role, ...] = ("chat", "embedder", "reranker")
CHECK_RETRIES = 1
"""A check is to say what is the case, not to wait until it is better."""
CHECK_SCHEMA = object_of(ok={"type": "boolean"})


@dataclass(frozen=True, slots=True)
class Verdict:
    """What was found out about one configured model."""

    role: Role
    name: str
    ok: bool
    problem: str = ""
    """One line that says what is wrong and what to do."""
    exit_code: int = 0
    structured: StructuredMode | None = None
    """How a chat model gives structured output: by schema (`native`) or by prompt and validation (`prompted`)."""
    dimensions: int | None = None
    """Length of an embedder's vectors."""
    seconds: float = 0.0
    """Of the call."""
    note: str = ""

    @property
    def line(self) -> str:
        """The verdict in words."""
        if not self.ok:
            return self.problem
        parts = [
            f"structured output {self.structured}" if self.structured else "",
            f"{self.dimensions} dimensions" if self.dimensions else "",
            self.note,
            f"{self.seconds:.2f} s" if self.seconds else "",
        ]
        return ", ".join(part for part in parts if part)

    def as_json(self) -> dict[str, Any]:
        """Return what `kgrag models check --json` writes."""
        return asdict(self)


async def check_models(
    settings: Settings,
    *,
    roles: Collection[Role] = ROLES,
    structured: bool = True,
    meter: Meter | None = None,
) -> list[Verdict]:
    """Call each configured model of these roles once, past the cache. Nothing is raised: what is wrong is in the verdicts.

    Without `structured` a chat model is only asked for text.
    """
    checked = settings.model_copy(update={"model_cache": "off", "retries": min(settings.retries, CHECK_RETRIES)})
    checks = []
    if "chat" in roles:
        checks.append(_verdict("chat", settings.model, _check_chat(checked, meter, structured=structured)))
    if "embedder" in roles:
        checks.append(_verdict("embedder", settings.embedder, _check_embedder(checked, meter)))
    if "reranker" in roles and settings.reranker is not None:
        checks.append(_verdict("reranker", settings.reranker, _check_reranker(checked, settings.reranker, meter)))

    async def all_of_them() -> list[Verdict]:
        return list(await asyncio.gather(*checks))

    # In a loop of its own, whose end closes the connections: the models are of no further use.
    return await asyncio.to_thread(asyncio.run, all_of_them())


async def require_models(
    settings: Settings, *, roles: Collection[Role], structured: bool = True, meter: Meter | None = None
) -> None:
    """Check the hosted models of these roles, if any, before anything is paid for. Raises `ModelError` with a line for each that fails."""
    names = {"chat": settings.model, "embedder": settings.embedder, "reranker": settings.reranker or ""}
    hosted = [role for role in roles if is_hosted(names[role])]
    if not hosted:
        return
    verdicts = await check_models(settings, roles=hosted, structured=structured, meter=meter)
    if failed := [verdict for verdict in verdicts if not verdict.ok]:
        raise ModelError("\n".join(verdict.problem for verdict in failed))


async def _verdict(role: Role, name: str, check: Any) -> Verdict:
    try:
        found = await check
    except KgragError as error:
        problem = " ".join(str(error).split())
        return Verdict(role, name, ok=False, problem=problem, exit_code=error.exit_code)
    return Verdict(role, name, ok=True, **found)


async def _check_chat(settings: Settings, meter: Meter | None, *, structured: bool) -> dict[str, Any]:
    if settings.model in CHAT_MODELS:
        return {"note": "model-free, nothing to reach"}
    model = open_chat_model(settings.model, settings=settings, meter=meter)
    # Different each time: no endpoint's own cache answers for the model, and no log shows an equal call twice.
    asked = [Message("user", f'Check {secrets.token_hex(4)}. Reply with this JSON object: {{"ok": true}}')]
    started = time.perf_counter()
    if not structured:
        return {"note": await _text_note(model, asked), "seconds": _since(started)}
    try:
        await model.reply(asked, schema=CHECK_SCHEMA)
    except ModelReplyError as error:
        if not error.usage.calls:
            raise  # refused, not answered
        if parse_object(error.reply) is None:
            raise ModelError(
                f"{settings.model} cannot give structured output: asked for a JSON object by schema and by prompt, it wrote "
                f"{error.reply[:100]!r}. Extraction and answers need one: take another model."
            ) from error
        note = "writes JSON, though not by the schema that was asked for"
        return {"structured": structured_mode(model), "note": note, "seconds": _since(started)}
    return {"structured": structured_mode(model), "seconds": _since(started)}


async def _text_note(model: ChatModel, asked: list[Message]) -> str:
    try:
        await model.reply(asked)
    except ModelReplyError as error:
        if not error.usage.calls:
            raise
        return "answers, though with nothing that can be used"
    return "answers"


async def _check_embedder(settings: Settings, meter: Meter | None) -> dict[str, Any]:
    embedder = open_embedder(settings.embedder, settings=settings, meter=meter)
    started = time.perf_counter()
    vectors = await embedder.embed_queries([f"check {secrets.token_hex(4)}"])
    if not np.isclose(np.linalg.norm(vectors[0]), 1.0, atol=1e-3):
        raise ModelError(f"{settings.embedder} gives vectors without direction: expected numbers, got zeros.")
    note = "" if is_hosted(settings.embedder) else "in this process"
    return {"dimensions": vectors.shape[1], "note": note, "seconds": _since(started)}


async def _check_reranker(settings: Settings, name: str, meter: Meter | None) -> dict[str, Any]:
    reranker = open_reranker(name, settings=settings, meter=meter)
    started = time.perf_counter()
    await reranker.score("supply voltage", [f"The supply voltage is 3.3 V ({secrets.token_hex(4)}).", "Zürich 1648"])
    return {"note": "" if is_hosted(name) else "in this process", "seconds": _since(started)}


def _since(started: float) -> float:
    return round(time.perf_counter() - started, 3)


def exit_code(verdicts: Collection[Verdict]) -> int:
    """Return 0 where all are well, 3 where a model could not be reached or used, 2 where only names or settings are wrong."""
    codes = {verdict.exit_code for verdict in verdicts if not verdict.ok}
    return ModelError.exit_code if ModelError.exit_code in codes else InputError.exit_code if codes else 0
