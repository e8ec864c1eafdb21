"""One ONNX node on the ONNX project's reference evaluator, in the operator set it is meant in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from onnx import NodeProto

NEW_SOFTMAX = 13  # operator set; before, all axes from `axis` on were one
TRAINING_MODE = 14  # operator set; the evaluator takes what is older to be training

REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, NotImplementedError)
"""What the ONNX project's evaluator raises, as it checks little, of inputs that it cannot take."""


def evaluate(node: NodeProto, opset: int, feeds: Mapping[str, np.ndarray]) -> list[Any]:
    """The node's results.

    Args:
        node: of the domain ai.onnx.
        opset: version of the operator set.
        feeds: the inputs that are not omitted, by name.

    Raises:
        One of REFUSALS: the evaluator cannot take these inputs.
    """
    replacement = REPLACEMENTS.get(node.op_type)
    if replacement is not None and opset < replacement[0]:
        return [replacement[1](_attributes(node), *(feeds[name] for name in node.input))]
    from onnx import ValueInfoProto
    from onnx.helper import make_graph, make_tensor_value_info, np_dtype_to_tensor_dtype
    from onnx.reference import ReferenceEvaluator

    inputs = [
        make_tensor_value_info(name, np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.shape(x))
        for name, x in feeds.items()
    ]
    # a node by itself is taken for the newest set's, and a function's has inputs without types
    outputs = [ValueInfoProto(name=name) for name in node.output if name]
    evaluator = ReferenceEvaluator(make_graph([node], "node", inputs, outputs), {"": opset})
    results = dict(zip(evaluator.output_names, evaluator.run(None, dict(feeds)), strict=True))
    return [results.get(name) for name in node.output]


def global_max_pool(_: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """GlobalMaxPool; the evaluator's is of images only."""
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True)


def old_softmax(attributes: Mapping[str, Any], x: np.ndarray, log: bool = False) -> np.ndarray:
    """Softmax over all axes from `axis` on; the evaluator has the new one only."""
    axis = attributes.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    rows = x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))
    rows = rows - rows.max(axis=1, keepdims=True, initial=-np.inf)
    sums = np.exp(rows).sum(axis=1, keepdims=True)
    return (rows - np.log(sums) if log else np.exp(rows) / sums).reshape(x.shape).astype(x.dtype)


def batch_normalization(
    attributes: Mapping[str, Any],
    x: np.ndarray,
    scale: np.ndarray,
    offset: np.ndarray,
    mean: np.ndarray,
    variance: np.ndarray,
) -> np.ndarray:
    """BatchNormalization by the stored mean and variance."""
    factor = scale / np.sqrt(variance + np.float32(attributes.get("epsilon", 1e-5)))
    a, b, c = (np.reshape(v, (-1,) + (1,) * (x.ndim - 2)) for v in (mean, factor, offset))
    return ((x - a) * b + c).astype(x.dtype)


ALL_OPSETS = 1 << 31
REPLACEMENTS: dict[str, tuple[int, Callable[..., np.ndarray]]] = {
    "BatchNormalization": (TRAINING_MODE, batch_normalization),
    "GlobalMaxPool": (ALL_OPSETS, global_max_pool),
    "LogSoftmax": (NEW_SOFTMAX, partial(old_softmax, log=True)),
    "Softmax": (NEW_SOFTMAX, old_softmax),
}
"""What the evaluator gets wrong: before which operator set, and what is right."""


def _attributes(node: NodeProto) -> dict[str, Any]:
    from onnx.helper import get_attribute_value

    return {a.name: get_attribute_value(a) for a in node.attribute}
