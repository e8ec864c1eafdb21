"""One ONNX node on the ONNX project's reference evaluator, in the operator set it is meant in."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ....schema.errors import DeadlineExceededError
from ..image_layout import has_channels_last
from ..math import BOOLEAN_MASK
from ..names import domain_of, names_read, qualified, schema_of
from . import arrays, attention, classifiers, convolutions, fused, images, layers, loops, quantized
from .checks import CHECKS
from .images import resize, upsample
from .pools import (
    average_pool,
    global_lp_pool,
    global_max_pool,
    lp_pool,
    max_pool,
    whole_windows,
)
from .recurrent import recurrent

if TYPE_CHECKING:
    from onnx import FunctionProto, NodeProto

    from ...sources.onnx import OnnxSource

NEW_SOFTMAX = 13  # operator set; before, all axes from `axis` on were one
NEW_QUANTIZATION = 19  # operator set; the evaluator has no QuantizeLinear of older ones
NO_ZERO_POINT = np.zeros((), np.uint8)
TRAINING_MODE = 14  # operator set; the evaluator takes what is older to be training

RANDOM = frozenset(
    {
        *("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform"),
        "RandomUniformLike",
    }
)
"""Operators of ai.onnx that draw numbers."""
UNKNOWN = frozenset(
    {
        *("Affine", "Crop", "ImageScaler", "MaxRoiPool", "ParametricSoftplus", "Scale"),
        *("ScaledTanh", "ai.onnx.ml.CategoryMapper"),
    }
)
"""Operators that the evaluator does not have."""
POOLS = frozenset({"AveragePool", "LpPool", "MaxPool"})
REFUSALS = (
    *(ArithmeticError, RuntimeError, TypeError, ValueError, IndexError, NotImplementedError),
)
"""What the ONNX project's evaluator raises, as it checks little, of inputs that it cannot take."""


class OnnxOracle:
    """An ONNX graph on onnx.reference, node by node."""

    def __init__(self, source: OnnxSource) -> None:
        self._source = source
        self.inputs = [port.tensor for port in source.inputs]
        self.outputs = [port.name for port in source.outputs]
        shapes = [tensor.sizes for tensor in self.inputs]
        self._has_unknown_images = any(shape is None or None in shape[1:] for shape in shapes)

    @property
    def integer_casts(self) -> list[tuple[str, np.dtype]]:
        """Names of tensors that Cast makes integers of, and the types of these."""
        from onnx.helper import get_node_attr_value, tensor_dtype_to_np_dtype

        casts = [
            node for node in self._source.nodes if qualified(node.domain, node.op_type) == "Cast"
        ]
        pairs = [
            (node.input[0], tensor_dtype_to_np_dtype(get_node_attr_value(node, "to")))
            for node in casts
        ]
        return [(name, dtype) for name, dtype in pairs if dtype.kind in "iu"]

    def check(self) -> None:
        """Raises NotVerified when the evaluator lacks an operator, or one gives random numbers."""
        from ...verify.oracle import NotVerified

        function_domains = {domain_of(function.domain) for function in self._source.functions}
        for node in self._source.nodes:
            name = node.name or next(iter(node.output), "")
            is_evaluated = qualified(node.domain, node.op_type) in REPLACEMENTS
            if not is_evaluated and domain_of(node.domain) not in EVALUATED | function_domains:
                raise NotVerified(f"{node.op_type} '{name}' of {node.domain} has no reference")
            if qualified(node.domain, node.op_type) in UNKNOWN:
                raise NotVerified(f"{node.op_type} '{name}' has no reference")
            if not node.domain and node.op_type in RANDOM:
                raise NotVerified(f"{node.op_type} '{name}' gives random numbers")

    def changed(self, change: Callable[[np.ndarray], np.ndarray]) -> OnnxOracle:
        """The same graph with other initializers, where they are floats."""
        arrays = {
            k: change(a) if a.dtype.kind in "fc" else a for k, a in self._source.arrays.items()
        }
        return OnnxOracle(replace(self._source, arrays=arrays))

    def requantized(
        self, change: Callable[[np.ndarray], np.ndarray], name: str, arrays: Sequence[np.ndarray]
    ) -> OnnxOracle:
        """The same graph."""
        return self

    def run(
        self,
        names: Sequence[str],
        arrays: Sequence[np.ndarray],
        seconds: float | None = None,
        memory: int | None = None,
    ) -> list[np.ndarray]:
        """The tensors of these names, for one array per input; memory is limited in loops alone."""
        end = None if seconds is None else time.monotonic() + seconds
        values: dict[str, Any] = dict(self._source.arrays)
        layout = self._source.channels_last
        for value, array in zip(self.inputs, arrays, strict=True):
            is_last = has_channels_last(array.shape, layout.get(value.name))
            values[value.name] = np.moveaxis(array, -1, 1) if is_last else array
        readers = {
            name: i for i, node in enumerate(self._source.nodes) for name in names_read(node)
        }
        for i, node in enumerate(self._source.nodes):
            if end is not None and time.monotonic() > end:
                raise DeadlineExceededError(None, None, f"{node.op_type} '{node.name}'")
            feeds = {name: _with_texts(values[name]) for name in names_read(node) if name}
            try:
                if self._has_unknown_images and qualified(node.domain, node.op_type) in POOLS:
                    whole_windows(_attributes(node), feeds[node.input[0]])
                with np.errstate(all="ignore"), loops.limited(end, memory):
                    results = evaluate(node, self._source.opsets, feeds, self._source.functions)
            except REFUSALS as error:
                shapes = ", ".join(f"{np.shape(x)}" for x in feeds.values())
                raise ValueError(
                    f"{node.op_type} '{node.name or node.output[0]}' cannot be evaluated on inputs "
                    f"of the shapes {shapes}"
                ) from error
            values.update(zip(node.output, map(_as_value, results), strict=False))
            for name in set(names_read(node)) - set(names):
                if readers[name] == i and name not in self._source.arrays:
                    values.pop(name, None)
        if list(names) != self.outputs:
            return [values[name] for name in names]
        return [
            np.moveaxis(values[name], 1, -1)
            if has_channels_last(np.shape(values[name]), layout.get(name))
            else values[name]
            for name in names
        ]


def _with_texts(x: Any) -> Any:
    """A value as the evaluator has it: texts are str, as are those in attributes."""
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "OS":
        return x
    texts = np.empty(x.size, object)
    texts[:] = [t.decode() if isinstance(t, bytes) else t for t in x.ravel().tolist()]
    return texts.reshape(x.shape)


def _as_value(x: Any) -> Any:
    """An array; a sequence is a list of arrays, and nothing stays nothing; texts are bytes."""
    if x is None or isinstance(x, list):
        return x
    array = np.asarray(x)
    if array.dtype.kind not in "OU":
        return array
    texts = np.empty(array.size, object)  # as TFLite has them
    texts[:] = [t.encode() if isinstance(t, str) else t for t in array.ravel().tolist()]
    return texts.reshape(array.shape)


def evaluate(
    node: NodeProto,
    opsets: Mapping[str, int],
    feeds: Mapping[str, Any],
    functions: Sequence[FunctionProto] = (),
) -> list[Any]:
    """The node's results.

    Args:
        node: the node.
        opsets: versions of the operator sets, by domain.
        feeds: what it reads, without omitted inputs, by name.
        functions: the model's own; those that others call come first.

    Raises:
        One of REFUSALS: the evaluator cannot take these inputs.
    """
    kind = qualified(node.domain, node.op_type)
    if kind in CHECKS:
        CHECKS[kind](_attributes(node), *(feeds.get(name) for name in node.input))
    replacement = REPLACEMENTS.get(kind)
    if replacement is not None and opsets[""] < replacement[0]:
        results = replacement[1](_attributes(node), *(feeds.get(name) for name in node.input))
        return list(results) if isinstance(results, tuple) else [results]
    node, opsets = with_old_default(with_new_words(node, opsets[""]), opsets)
    node = with_ordered_weights(node) if kind == "TfIdfVectorizer" else node
    from onnx import ValueInfoProto
    from onnx.helper import make_graph, make_tensor_value_info, np_dtype_to_tensor_dtype
    from onnx.reference import ReferenceEvaluator

    inputs = [
        make_tensor_value_info(name, np_dtype_to_tensor_dtype(np.asarray(x).dtype), np.shape(x))
        if not isinstance(x, list)
        else ValueInfoProto(name=name)
        for name, x in feeds.items()
    ]
    # a node by itself is taken for the newest set's, and a function's has inputs without types
    outputs = [ValueInfoProto(name=name) for name in node.output if name]
    graph = make_graph([node], "node", inputs, outputs)
    new_ops = [*classifiers.corrected(), *images.corrected(), *loops.corrected()]
    evaluator = ReferenceEvaluator(graph, dict(opsets), functions=list(functions), new_ops=new_ops)
    results = dict(zip(evaluator.output_names, evaluator.run(None, dict(feeds)), strict=True))
    return as_declared(node, opsets, [results.get(name) for name in node.output])


def as_declared(node: NodeProto, opsets: Mapping[str, int], results: list[Any]) -> list[Any]:
    """Results that a node declares as float32, which the evaluator gives in the type of inputs."""
    schema = schema_of(node.op_type, node.domain, opsets.get(node.domain, 1))
    for i, output in enumerate(schema.outputs if schema is not None else ()):
        is_double = i < len(results) and getattr(results[i], "dtype", None) == np.float64
        if is_double and output.type_str == "tensor(float)":
            results[i] = results[i].astype(np.float32)
    return results


def with_old_default(
    node: NodeProto, opsets: Mapping[str, int]
) -> tuple[NodeProto, Mapping[str, int]]:
    """A node with what an operator did before it could be told, which the evaluator forgets."""
    from onnx import NodeProto
    from onnx.helper import make_attribute

    version, name, value = OLD_DEFAULTS.get(qualified(node.domain, node.op_type), (0, "", ""))
    if opsets[""] >= version:
        return node, opsets
    changed = NodeProto()
    changed.CopyFrom(node)
    changed.attribute.append(make_attribute(name, value))
    return changed, {**opsets, "": version}


def with_ordered_weights(node: NodeProto) -> NodeProto:
    """TfIdfVectorizer with weights in the order of its result, as the evaluator takes them."""
    from onnx import NodeProto

    changed = NodeProto()
    changed.CopyFrom(node)
    attributes = {a.name: a for a in changed.attribute}
    if "weights" in attributes:
        indices, weights = attributes["ngram_indexes"].ints, list(attributes["weights"].floats)
        ordered = dict(zip(indices, weights, strict=True))
        del attributes["weights"].floats[:]
        attributes["weights"].floats.extend(ordered.get(i, 0) for i in range(max(indices) + 1))
    return changed


def with_new_words(node: NodeProto, opset: int) -> NodeProto:
    """A node with the words of the newest operator set, which alone the evaluator knows."""
    from onnx import NodeProto

    version, name, words = NEW_WORDS.get(qualified(node.domain, node.op_type), (0, "", {}))
    if opset >= version:
        return node
    changed = NodeProto()
    changed.CopyFrom(node)
    for attribute in changed.attribute:
        if attribute.name == name:
            attribute.s = words.get(attribute.s, attribute.s)
    return changed


NEW_WORDS = {"GridSample": (20, "mode", {b"bilinear": b"linear", b"bicubic": b"cubic"})}
"""Since which operator set an attribute has other words, by those of before."""
OLD_DEFAULTS = {"RoiAlign": (16, "coordinate_transformation_mode", "output_half_pixel")}
"""Since which operator set an operator has an attribute, and what it did before."""


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


def _by_axis(attributes: Mapping[str, Any], x: np.ndarray, parameter: np.ndarray) -> np.ndarray:
    """A scale or zero point, one or one for each index of an axis, in a shape for `x`."""
    if parameter.size == 1:
        return parameter.reshape(())
    shape = [1] * x.ndim
    shape[attributes.get("axis", 1)] = -1
    return parameter.reshape(shape)


def quantize_linear(
    attributes: Mapping[str, Any],
    x: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray = NO_ZERO_POINT,
) -> np.ndarray:
    """QuantizeLinear of the operator sets that the evaluator does not have."""
    limits = np.iinfo(zero_point.dtype)
    steps = np.rint(x / _by_axis(attributes, x, scale))
    steps = steps + _by_axis(attributes, x, zero_point).astype(np.float32)
    return np.clip(steps, limits.min, limits.max).astype(zero_point.dtype)


def dequantize_linear(
    attributes: Mapping[str, Any],
    x: np.ndarray,
    scale: np.ndarray,
    zero_point: np.ndarray = NO_ZERO_POINT,
) -> np.ndarray:
    """DequantizeLinear of the operator sets that the evaluator does not have."""
    zero_point = _by_axis(attributes, x, zero_point).astype(np.float32)
    return (x.astype(np.float32) - zero_point) * _by_axis(attributes, x, scale)


def lp_normalization(attributes: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """LpNormalization; the evaluator sums what is negative as it is."""
    norm = np.linalg.norm(x, attributes.get("p", 2), attributes.get("axis", -1), keepdims=True)
    return np.divide(x, norm, np.zeros_like(x), where=norm != 0).astype(x.dtype)


def local_response_normalization(attributes: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """LRN; the evaluator normalizes as many channels as there are images."""
    size, alpha = attributes["size"], attributes.get("alpha", 1e-4)
    pads = [(0, 0)] * x.ndim
    pads[1] = (size - 1) // 2, size // 2
    squares = np.lib.stride_tricks.sliding_window_view(np.pad(np.square(x), pads), size, axis=1)
    scale = attributes.get("bias", 1.0) + alpha / size * squares.sum(-1)
    return (x / scale ** attributes.get("beta", 0.75)).astype(x.dtype)


def old_hardmax(attributes: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """Hardmax over all axes from `axis` on; the evaluator has the new one only."""
    axis = attributes.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    rows = x.reshape(prod(x.shape[:axis]), prod(x.shape[axis:]))
    return np.eye(rows.shape[1], dtype=x.dtype)[rows.argmax(1)].reshape(x.shape)


def scatter(
    attributes: Mapping[str, Any], x: np.ndarray, indices: np.ndarray, updates: np.ndarray
) -> np.ndarray:
    """Scatter, which the evaluator does not have."""
    axis, result, coordinates = attributes.get("axis", 0), x.copy(), np.indices(indices.shape)
    coordinates[axis] = indices
    result[tuple(coordinates)] = updates
    return result


def normalizer(attributes: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    """Normalizer; the evaluator takes absolute values for MAX, ONNX and ONNX Runtime do not."""
    sizes = {
        "MAX": lambda: x.max(axis=-1, keepdims=True),
        "L1": lambda: np.abs(x).sum(axis=-1, keepdims=True),
        "L2": lambda: np.sqrt(np.square(x).sum(axis=-1, keepdims=True)),
    }
    size = sizes[attributes.get("norm", b"MAX").decode()]()
    return (x / np.where(size == 0, x.dtype.type(1), size)).astype(np.float32)


EVALUATED = {"", "ai.onnx.ml", "ai.onnx.preview", "ai.onnx.preview.training"}
"""Domains that the evaluator has operators of."""
ALL_OPSETS = 1 << 31
REPLACEMENTS: dict[str, tuple[int, Callable[..., Any]]] = {
    "AveragePool": (ALL_OPSETS, average_pool),
    "BatchNormalization": (TRAINING_MODE, batch_normalization),
    "Conv": (ALL_OPSETS, convolutions.convolution),
    "ConvTranspose": (ALL_OPSETS, convolutions.conv_transpose),
    "DequantizeLinear": (NEW_QUANTIZATION, dequantize_linear),
    **{kind: (ALL_OPSETS, partial(recurrent, kind)) for kind in ("RNN", "GRU", "LSTM")},
    "Dropout": (BOOLEAN_MASK, lambda _, x: (x, np.zeros_like(x))),
    "AffineGrid": (ALL_OPSETS, images.affine_grid),
    "GatherElements": (ALL_OPSETS, arrays.gather_elements),
    "GlobalLpPool": (ALL_OPSETS, global_lp_pool),
    "GlobalMaxPool": (ALL_OPSETS, global_max_pool),
    "Hardmax": (NEW_SOFTMAX, old_hardmax),
    "LRN": (ALL_OPSETS, local_response_normalization),
    "LogSoftmax": (NEW_SOFTMAX, partial(old_softmax, log=True)),
    "LpNormalization": (ALL_OPSETS, lp_normalization),
    "LpPool": (ALL_OPSETS, lp_pool),
    "MaxPool": (ALL_OPSETS, max_pool),
    "Mean": (ALL_OPSETS, arrays.mean),
    "OneHot": (ALL_OPSETS, arrays.one_hot),
    "Pad": (ALL_OPSETS, arrays.pad),
    "QuantizeLinear": (NEW_QUANTIZATION, quantize_linear),
    "ReduceSumSquare": (ALL_OPSETS, arrays.reduce_sum_square),
    "Resize": (ALL_OPSETS, resize),
    "Scatter": (ALL_OPSETS, scatter),
    "Slice": (ALL_OPSETS, arrays.slice_),
    "Softmax": (NEW_SOFTMAX, old_softmax),
    "Unique": (ALL_OPSETS, arrays.unique),
    "Upsample": (ALL_OPSETS, upsample),
    "com.microsoft.DequantizeLinear": (ALL_OPSETS, dequantize_linear),
    "com.microsoft.Pad": (ALL_OPSETS, arrays.pad),
    "com.microsoft.QuantizeLinear": (ALL_OPSETS, quantize_linear),
    "ai.onnx.ml.Normalizer": (ALL_OPSETS, normalizer),
    "ai.onnx.ml.ZipMap": (ALL_OPSETS, lambda _, scores: scores),
    **{
        kind: (ALL_OPSETS, function)
        for module in (attention, fused, layers, quantized)
        for kind, function in module.OPERATORS.items()
    },
}
"""What the evaluator gets wrong or is slow at: before which operator set, and what is right."""


def _attributes(node: NodeProto) -> dict[str, Any]:
    from onnx.helper import get_attribute_value

    return {a.name: get_attribute_value(a) for a in node.attribute}
