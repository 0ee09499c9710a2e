"""A trained predictor as one file: arrays and a description, no code."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from pydantic import ValidationError

from kgrag.errors import InputError
from kgrag.link_prediction.layers import Parameters
from kgrag.link_prediction.options import TrainingOptions
from kgrag.link_prediction.training import Calibration, Trained, predictor_for

__all__ = ["ModelFile", "read_model", "write_model"]

FORMAT = "kgrag.LinkPredictor"
VERSION = 1


@dataclass(frozen=True)
class ModelFile:
    """A trained predictor and what it was trained on."""

    trained: Trained
    embedder: str
    """Whose vectors it reads."""
    chunks: str
    """Digest of the ids of the chunks that it was trained on: others do no harm, but it was not trained on them."""
    questions: int

    @property
    def fingerprint(self) -> str:
        """Digest of the weights."""
        return _fingerprint(self.trained.parameters)


def write_model(file: Path, model: ModelFile) -> None:
    """Write it, whole or not at all."""
    trained = model.trained
    about = {
        "format": FORMAT,
        "version": VERSION,
        "embedder": model.embedder,
        "chunks": model.chunks,
        "questions": model.questions,
        "dimensions": trained.predictor.shape.dimensions,
        "options": trained.options.model_dump(mode="json"),
        "calibration": list(trained.calibration),
        "losses": list(trained.losses),
        "best_epoch": trained.best_epoch,
        "fingerprint": model.fingerprint,
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.new")
    with partial.open("wb") as out:
        np.savez(out, allow_pickle=False, about=np.array(json.dumps(about)), **trained.parameters)
    partial.replace(file)


def read_model(file: Path) -> ModelFile:
    """Read what `write_model` wrote. Raises `InputError` for anything else: another format, weights that are not those described."""
    try:
        with np.load(file, allow_pickle=False) as kept:
            about = json.loads(str(kept["about"]))
            parameters = {name: kept[name] for name in kept.files if name != "about"}
        model = _model(about, parameters)
    except FileNotFoundError:
        raise InputError(f"{file}: expected a link predictor, got no file. Train one: kgrag train lp.") from None
    except (OSError, ValueError, KeyError, TypeError, BadZipFile, ValidationError) as error:
        raise InputError(f"{file}: expected a link predictor that kgrag train lp wrote: {error}") from error
    if model.fingerprint != about["fingerprint"]:
        raise InputError(
            f"{file}: expected weights with the fingerprint {about['fingerprint']}, got {model.fingerprint}: train it anew."
        )
    return model


def _model(about: dict[str, Any], parameters: Parameters) -> ModelFile:
    if (about["format"], about["version"]) != (FORMAT, VERSION):
        raise ValueError(f"its format is {about['format']!r}, version {about['version']!r}")
    options = TrainingOptions.model_validate(about["options"], strict=False)
    predictor = predictor_for(options, int(about["dimensions"]))
    expected = predictor.initial(np.random.default_rng(0))
    if _shapes(expected) != _shapes(parameters):
        raise ValueError(f"its arrays are not those of {options.predictor} with these options")
    if not all(np.isfinite(value).all() for value in parameters.values()):
        raise ValueError("some of its weights are no numbers")
    calibration = Calibration(*map(float, about["calibration"]))
    trained = Trained(options, predictor, parameters, calibration, tuple(about["losses"]), int(about["best_epoch"]))
    return ModelFile(trained, str(about["embedder"]), str(about["chunks"]), int(about["questions"]))


def _shapes(parameters: Parameters) -> dict[str, tuple[int, ...]]:
    return {name: value.shape for name, value in parameters.items()}


def _fingerprint(parameters: Parameters) -> str:
    digest = hashlib.sha256()
    for name in sorted(parameters):
        digest.update(name.encode())
        digest.update(np.ascontiguousarray(parameters[name], dtype="<f4").tobytes())
    return digest.hexdigest()[:32]
