"""Dynamically quantized layers as float32 layers on dequantized weights, which stay integers.

    x -> DynamicQuantizeLinear -> q, s, z
    q, w, z -> ConvInteger -> Cast -> Mul(s * scale of w) -> y

becomes

    w -> DequantizeLinear -> f;  x, f -> Conv -> y

TFLite's hybrid kernels quantize `x` by its own range while they run, too; the weights that they
read are marked. Weights of integers that these kernels do not take, and layers whose parts others
read, stay what they are.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .names import domain_of, names_read

if TYPE_CHECKING:
    from onnx import NodeProto

FLOAT_FORM = {"ConvInteger": "Conv", "MatMulInteger": "MatMul"}
QUANTIZER = "DynamicQuantizeLinear"
MICROSOFT = "com.microsoft"
MIN_OPSET_PER_AXIS = 13
"""The operator set since which DequantizeLinear has scales by axis."""
LARGEST = 127
MIDDLE = {np.dtype(np.int8): 0, np.dtype(np.uint8): 128}


class FloatForm(NamedTuple):
    """A graph with its dynamically quantized layers in float32.

    Attributes:
        nodes, arrays: of the graph; what nobody reads any more is still among them.
        weights: the names of the tensors that stand for quantized weights.
    """

    nodes: tuple[NodeProto, ...]
    arrays: dict[str, np.ndarray]
    weights: frozenset[str]


class _Layer(NamedTuple):
    """One layer of integers: names of tensors, "" for none, and the nodes it consists of."""

    kind: str
    x: str
    weights: str
    scale: str
    zero_point: str
    bias: str
    result: str
    nodes: tuple[NodeProto, ...]


def float_form(
    nodes: Sequence[NodeProto],
    arrays: Mapping[str, np.ndarray],
    outputs: Sequence[str],
    opset: int,
) -> FloatForm:
    """The graph with each layer that a hybrid kernel computes written in float32."""
    finder = _Finder(nodes, arrays, outputs)
    layers = {}
    for node in nodes:
        layer = finder.layer(node)
        if layer is not None and _fits(layer, arrays, opset):
            layers[layer.result] = layer
    if not layers:
        return FloatForm(tuple(nodes), dict(arrays), frozenset())
    removed = {id(node) for layer in layers.values() for node in layer.nodes}
    form = FloatForm((), dict(arrays), frozenset())
    written: list[NodeProto] = []
    weights: set[str] = set()
    for node in nodes:
        layer = next((layers[name] for name in node.output if name in layers), None)
        if layer is not None:
            written += _float_nodes(layer, form.arrays, weights)
        elif id(node) not in removed:
            written.append(node)
    return FloatForm(tuple(written), form.arrays, frozenset(weights))


class _Finder:
    """Who makes and who reads each tensor of a graph."""

    def __init__(
        self,
        nodes: Sequence[NodeProto],
        arrays: Mapping[str, np.ndarray],
        outputs: Sequence[str],
    ) -> None:
        self._arrays = arrays
        self._producers = {name: node for node in nodes for name in node.output}
        self._readers: dict[str, list[NodeProto | None]] = {name: [None] for name in outputs}
        for node in nodes:
            for name in names_read(node):
                self._readers.setdefault(name, []).append(node)

    def layer(self, node: NodeProto) -> _Layer | None:
        """The layer of integers that a node computes the products of."""
        names = [*node.input, *[""] * 8]
        domain = domain_of(node.domain)
        if not domain and node.op_type in FLOAT_FORM:
            q, weights, q_zero, zero = names[:4]
            quantizer = self._quantizer(q, "", q_zero)
            cast = self._reader(node.output[0], "Cast")
            product = cast and self._reader(cast.output[0], "Mul")
            if quantizer is None or cast is None or product is None:
                return None
            (scales,) = [name for name in product.input if name != cast.output[0]] or [""]
            scale = self._weights_scale(scales, quantizer.output[1])
            return _Layer(FLOAT_FORM[node.op_type], quantizer.input[0], weights, scale, zero, "",
                          product.output[0], (node, cast, product))  # fmt: skip
        if domain == MICROSOFT and node.op_type == "DynamicQuantizeMatMul":
            x, weights, scale, zero, bias = names[:5]
            return _Layer("MatMul", x, weights, scale, zero, bias, node.output[0], (node,))
        if domain == MICROSOFT and node.op_type == "MatMulIntegerToFloat":
            q, weights, q_scale, scale, q_zero, zero, bias = names[:7]
            quantizer = self._quantizer(q, q_scale, q_zero)
            if quantizer is not None:
                return _Layer("MatMul", quantizer.input[0], weights, scale, zero, bias,
                              node.output[0], (node,))  # fmt: skip
        return None

    def _quantizer(self, q: str, scale: str, zero: str) -> NodeProto | None:
        """The node that gives these integers with this scale, if stated, and zero point."""
        node = self._producers.get(q)
        if node is None or node.op_type != QUANTIZER or node.output[0] != q:
            return None
        fits = zero == node.output[2] and scale in ("", node.output[1])
        return node if fits else None

    def _reader(self, name: str, kind: str) -> NodeProto | None:
        """The only reader of a tensor, where it is of this kind."""
        readers = self._readers.get(name, [])
        if len(readers) != 1 or readers[0] is None or readers[0].op_type != kind:
            return None
        return readers[0]

    def _weights_scale(self, scales: str, x_scale: str) -> str:
        """The factor beside `x_scale` in the product `scales`; "" when there is none."""
        node = self._producers.get(scales)
        if node is None or node.op_type != "Mul" or x_scale not in node.input:
            return ""
        return next((name for name in node.input if name != x_scale), "")


def _fits(layer: _Layer, arrays: Mapping[str, np.ndarray], opset: int) -> bool:
    """Whether the weights are constants, symmetric and of integers that hybrid kernels take."""
    weights, scale = arrays.get(layer.weights), arrays.get(layer.scale)
    zeros = arrays.get(layer.zero_point) if layer.zero_point else np.zeros(1)
    if weights is None or scale is None or zeros is None or weights.dtype not in MIDDLE:
        return False
    middle = MIDDLE[weights.dtype]
    if not layer.zero_point and middle:
        return False
    steps = weights.astype(np.int16) - middle
    n_channels = weights.shape[0 if layer.kind == "Conv" else -1]
    is_per_axis = scale.size > 1
    return bool(
        weights.ndim >= 2
        and (layer.kind == "Conv" or weights.ndim == 2)
        and (zeros == middle).all()
        and np.abs(steps).max(initial=0) <= LARGEST
        and (not is_per_axis or (scale.size == n_channels and opset >= MIN_OPSET_PER_AXIS))
    )


def _float_nodes(
    layer: _Layer, arrays: dict[str, np.ndarray], weights: set[str]
) -> list[NodeProto]:
    """The nodes of a layer in float32; arrays that they need are added to `arrays`."""
    from onnx import helper

    name = f"{layer.weights}:float"
    nodes = []
    if name not in weights:
        scale = f"{layer.scale}:float"
        flat = arrays[layer.scale].astype(np.float32).ravel()
        arrays[scale] = flat if flat.size > 1 else flat.reshape(())
        operands = [layer.weights, scale]
        if layer.zero_point:
            zero = f"{layer.zero_point}:float"
            middle = MIDDLE[arrays[layer.weights].dtype]
            arrays[zero] = np.full(arrays[scale].shape, middle, arrays[layer.weights].dtype)
            operands.append(zero)
        axis = 0 if layer.kind == "Conv" else 1
        node = helper.make_node("DequantizeLinear", operands, [name])
        if flat.size > 1:
            node.attribute.append(helper.make_attribute("axis", axis))
        nodes.append(node)
        weights.add(name)
    result = f"{layer.result}:product" if layer.bias else layer.result
    node = helper.make_node(layer.kind, [layer.x, name], [result], layer.nodes[0].name or None)
    if layer.kind == "Conv":
        node.attribute.extend(layer.nodes[0].attribute)
    nodes.append(node)
    if layer.bias:
        nodes.append(helper.make_node("Add", [result, layer.bias], [layer.result]))
    return nodes
