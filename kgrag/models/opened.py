"""The models that settings name, opened when they are first asked for: `OpenedModels`."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import TYPE_CHECKING

from kgrag.models import CHAT_MODELS, open_chat_model, open_embedder, open_reranker
from kgrag.settings import Settings

if TYPE_CHECKING:
    from kgrag.models.base import ChatModel, Embedder, Reranker
    from kgrag.models.check import Role
    from kgrag.models.meter import Meter

__all__ = ["OpenedModels"]


class OpenedModels:
    """The models of settings, and what hosted ones used and cost: one of each, whoever of those that share this asks first."""

    def __init__(self, settings: Settings, *, embedder: Embedder | None = None) -> None:
        """`embedder` is that of the settings, where it is open already."""
        self._settings = settings
        if embedder is not None:
            self.embedder = embedder

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model."""
        return open_embedder(self._settings.embedder, settings=self._settings, meter=self.meter)

    @cached_property
    def chat(self) -> ChatModel | None:
        """The chat model; None where the settings say `rules`. Raises `ModelError` where its key is missing."""
        return None if self._settings.model in CHAT_MODELS else self.chat_named(self._settings.model)

    @cached_property
    def reranker(self) -> Reranker | None:
        """The reranker; None where the settings name none. Raises `ModelError` where its key is missing."""
        if self._settings.reranker is None:
            return None
        return open_reranker(self._settings.reranker, settings=self._settings, meter=self.meter)

    @cached_property
    def meter(self) -> Meter:
        """What hosted models used and cost since the first of them was opened."""
        from kgrag.models.meter import Meter
        from kgrag.models.prices import load_prices

        return Meter(load_prices(self._settings.prices))

    def chat_named(self, name: str, *, setting: str = "model") -> ChatModel:
        """Open another chat model with the same settings, which counts on the same meter; `setting` is the flag that named it."""
        return open_chat_model(name, settings=self._settings, meter=self.meter, setting=setting)

    async def require(self, roles: Collection[Role], *, structured: bool = True, chat: str | None = None) -> None:
        """Ask the hosted models of these roles once, before anything is paid for. Raises `ModelError` with a line for each that fails.

        `chat` is asked in the place of the settings' chat model; without `structured` only for text.
        """
        from kgrag.models.check import require_models

        settings = self._settings if chat is None else self._settings.model_copy(update={"model": chat})
        await require_models(settings, roles=roles, structured=structured, meter=self.meter)
