"""What models cost: `prices.toml` of the package, and a file of the user's."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from kgrag.common.toml_files import read_toml
from kgrag.errors import InputError
from kgrag.types import Usage

__all__ = ["Price", "PriceTable", "load_prices"]

DATED_VERSION = re.compile(r"-(?:\d{4}-\d{2}-\d{2}|\d{4}|latest)$")
MILLION, THOUSAND = 1_000_000, 1_000


class Price(BaseModel):
    """What one model costs, in US dollars."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = 0.0
    """For a million tokens of the prompt."""
    output: float = 0.0
    """For a million tokens of the reply."""
    searches: float = 0.0
    """For a thousand searches of a reranker."""

    def of(self, usage: Usage, *, searches: int = 0) -> float:
        """Price what was used."""
        tokens = usage.prompt_tokens * self.input + usage.completion_tokens * self.output
        return tokens / MILLION + searches * self.searches / THOUSAND


class _PriceFile(BaseModel):
    model_config = ConfigDict(extra="forbid")

    date: str = ""
    models: dict[str, Price]


@dataclass(frozen=True, slots=True)
class PriceTable:
    """Prices by model name."""

    models: Mapping[str, Price]
    date: str
    """When the package's own prices were looked up."""

    def of(self, model: str) -> Price | None:
        """Return a model's price: by its name, without a date at its end, or its provider's `*`. None where it is not known."""
        model = model.partition("@")[0]  # an embedder of shorter vectors costs the same
        provider = model.partition(":")[0]
        for name in (model, DATED_VERSION.sub("", model), f"{provider}:*"):
            if name in self.models:
                return self.models[name]
        return None


def load_prices(extra: Path | None = None) -> PriceTable:
    """Read the package's table and the user's over it. Raises `InputError` where the user's file is not of that form."""
    own = _PriceFile.model_validate(read_toml(resources.files(__package__).joinpath("prices.toml")))
    models = dict(own.models)
    if extra is not None:
        try:
            models |= _PriceFile.model_validate(read_toml(extra.expanduser())).models
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, ValidationError) as error:
            raise InputError(
                f'{extra}: expected prices as `[models]` and lines like "openai:gpt-4o" = {{ input = 2.5, output = 10.0 }} '
                f"(dollars for a million tokens), got: {error}"
            ) from error
    return PriceTable(models, own.date)
