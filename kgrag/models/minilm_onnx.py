"""BERT's encoder as an ONNX graph of onnxruntime's fused operators (domain com.microsoft), seven a layer, written from its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["HEADS", "HIDDEN", "LAYERS", "LAYER_NORM_EPSILON", "Tensors", "encoder_graph"]

LAYERS = 6
HEADS = 12
HIDDEN = 384
LAYER_NORM_EPSILON = 1e-12
INT8_MOST = 63
"""Of an 8-bit weight: with seven bits processors without VNNI add up products without saturation, so all give the same integers."""

Tensors = Mapping[str, NDArray[np.float32]]
"""Weights by the names that the published file has."""


def encoder_graph(tensors: Tensors, *, int8: bool = False) -> bytes:
    """Write all-MiniLM-L6-v2's graph with these weights.

    Inputs: `input_ids` int32 [batch, tokens], `lengths` int32 [batch]. Output: `states` float32 [batch, tokens, 384]. With `int8` the
    products with weights are of 8-bit integers: of each column of weights, and of what is multiplied with them over the whole batch.
    """
    from onnx import TensorProto, helper

    written = _Written(tensors, int8=int8)
    written.embeddings("hidden0")
    for layer in range(LAYERS):
        written.layer(layer, f"hidden{layer}", "states" if layer == LAYERS - 1 else f"hidden{layer + 1}")
    graph = helper.make_graph(
        written.nodes,
        "all-MiniLM-L6-v2",
        [
            helper.make_tensor_value_info("input_ids", TensorProto.INT32, ["batch", "tokens"]),
            helper.make_tensor_value_info("lengths", TensorProto.INT32, ["batch"]),
        ],
        [helper.make_tensor_value_info("states", TensorProto.FLOAT, ["batch", "tokens", HIDDEN])],
        written.initializers,
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return model


class _Written:
    """The nodes and constants of a graph, as far as it is written. Methods return the names of what they make."""

    def __init__(self, tensors: Tensors, *, int8: bool) -> None:
        self._tensors, self._int8 = tensors, int8
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def embeddings(self, out: str) -> None:
        """Write what the words and their positions make of a text."""
        weights = {
            name: self._tensors[f"embeddings.{name}.weight"] for name in ("word_embeddings", "position_embeddings")
        }
        # There is one segment, so its vector is added to every position beforehand.
        positions = weights["position_embeddings"] + self._tensors["embeddings.token_type_embeddings.weight"][0]
        words = self._constant("words", weights["word_embeddings"])
        norm = [words, self._constant("positions", positions), "", *self._norm("embeddings.LayerNorm")]
        self._fused(
            "EmbedLayerNormalization", ["input_ids", "", *norm], [out, "unused_mask"], epsilon=LAYER_NORM_EPSILON
        )

    def layer(self, number: int, entry: str, out: str) -> None:
        """Write a layer: attention over `entry`, then the feed-forward network, each added to what came in and normalised."""
        prefix = f"encoder.layer.{number}"
        attended = self._attention(f"{prefix}.attention", entry, f"attended{number}")
        dense = f"{prefix}.attention.output.dense"
        projected = self._product(attended, dense, self._tensors[f"{dense}.weight"].T)
        middle = self._added(projected, entry, dense, f"{prefix}.attention.output.LayerNorm", f"middle{number}")
        up, down = f"{prefix}.intermediate.dense", f"{prefix}.output.dense"
        widened = self._product(middle, up, self._tensors[f"{up}.weight"].T)
        self._fused("BiasGelu", [widened, self._bias(up)], [f"{up}.active"])
        narrowed = self._product(f"{up}.active", down, self._tensors[f"{down}.weight"].T)
        self._added(narrowed, middle, down, f"{prefix}.output.LayerNorm", out)

    def _attention(self, prefix: str, entry: str, out: str) -> str:
        parts = [f"{prefix}.self.{part}" for part in ("query", "key", "value")]
        weight = np.concatenate([self._tensors[f"{part}.weight"].T for part in parts], axis=1)
        bias = self._constant(f"{prefix}.qkv_bias", np.concatenate([self._tensors[f"{part}.bias"] for part in parts]))
        if self._int8:
            (values, scale, zero), (integers, steps, zeros) = self._quantized(entry, f"{prefix}.qkv", weight)
            inputs = [values, integers, bias, scale, steps, "lengths", zero, zeros]
            self._fused("QAttention", inputs, [out], num_heads=HEADS)
        else:
            inputs = [entry, self._constant(f"{prefix}.qkv", weight), bias, "lengths"]
            self._fused("Attention", inputs, [out], num_heads=HEADS)
        return out

    def _added(self, made: str, entry: str, dense: str, norm: str, out: str) -> str:
        bias = self._bias(dense)
        inputs = [made, entry, *self._norm(norm), bias]
        self._fused("SkipLayerNormalization", inputs, [out], epsilon=LAYER_NORM_EPSILON)
        return out

    def _product(self, left: str, name: str, weight: NDArray[np.float32]) -> str:
        if self._int8:
            (values, scale, zero), (integers, steps, zeros) = self._quantized(left, name, weight)
            self._fused("MatMulIntegerToFloat", [values, integers, scale, steps, zero, zeros], [name])
        else:
            self._node("MatMul", [left, self._constant(f"{name}.weight", weight)], [name])
        return name

    def _quantized(self, left: str, name: str, weight: NDArray[np.float32]) -> tuple[list[str], list[str]]:
        """Make values, scale and zero of what is multiplied, and of the weights."""
        quantized = [f"{name}.{part}" for part in ("left", "left_scale", "left_zero")]
        self._node("DynamicQuantizeLinear", [left], quantized)
        steps = np.abs(weight).max(axis=0) / INT8_MOST
        return quantized, [
            self._constant(f"{name}.weight", np.rint(weight / steps).astype(np.int8)),
            self._constant(f"{name}.scale", steps),
            self._constant(f"{name}.zero", np.zeros(len(steps), dtype=np.int8)),
        ]

    def _norm(self, prefix: str) -> list[str]:
        parts = (("gamma", "weight"), ("beta", "bias"))
        return [self._constant(f"{prefix}.{ours}", self._tensors[f"{prefix}.{theirs}"]) for ours, theirs in parts]

    def _bias(self, dense: str) -> str:
        return self._constant(f"{dense}.bias", self._tensors[f"{dense}.bias"])

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        from onnx import numpy_helper

        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def _fused(self, operator: str, inputs: list[str], outputs: list[str], **attributes: Any) -> None:
        self._node(operator, inputs, outputs, domain="com.microsoft", **attributes)

    def _node(self, operator: str, inputs: list[str], outputs: list[str], **options: Any) -> None:
        from onnx import helper

        self.nodes.append(helper.make_node(operator, inputs, outputs, **options))
