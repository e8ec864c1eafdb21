"""Models of ONNX's first operator sets, 1 to 6, in the oldest that is lowered.

What changed until then: arithmetic says by attributes how it broadcasts, and sizes are attributes
or have other names. The nodes are rewritten, before anything else reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...schema.errors import ConverterError
from ..onnx.names import domain_of, schema_of

if TYPE_CHECKING:
    from onnx import GraphProto, ModelProto, NodeProto

MIN_OPSET = 7  # operator set; the oldest that is lowered
BROADCASTING = ("Add", "And", "Div", "Equal", "Greater", "Less", "Mul", "Or", "Pow", "Sub", "Xor")
OBSOLETE = frozenset({"broadcast", "consumed_inputs", "is_test", "output_sequence"})
"""Attributes that say nothing of an operator at inference, or that a rule has read."""
SELU = {"alpha": 1.6732, "gamma": 1.0507}
"""Defaults of its first version."""


def upgrade(model: ModelProto, opsets: dict[str, int]) -> None:
    """Rewrites a model of an old operator set, in place, in MIN_OPSET; others stay as they are.

    Raises ConverterError where a node's meaning depends on what is not known of its operands.
    """
    if opsets[""] < MIN_OPSET:
        _Upgrade(model, opsets[""]).graph(model.graph)
        opsets[""] = MIN_OPSET


class _Upgrade:
    """The nodes of a model in a newer operator set."""

    def __init__(self, model: ModelProto, opset: int) -> None:
        self.model, self.opset = model, opset
        self.nodes: list[NodeProto] = []
        self._ranks: dict[str, int] | None = None

    def graph(self, graph: GraphProto) -> None:
        """Rewrites the nodes of a graph, and of the graphs inside them."""
        outer, self.nodes = self.nodes, []
        for node in graph.node:
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    self.graph(attribute.g)
            if not domain_of(node.domain):
                self._upgrade(node)
            self.nodes.append(node)
        del graph.node[:]
        graph.node.extend(self.nodes)
        self.nodes = outer

    def _upgrade(self, node: NodeProto) -> None:
        old, new = (schema_of(node.op_type, "", opset) for opset in (self.opset, MIN_OPSET))
        if old is None or new is None or old.since_version == new.since_version:
            return
        attributes = _attributes(node)
        rule = RULES.get(node.op_type)
        if rule is not None:
            rule(self, node, attributes)
        for attribute in list(node.attribute):
            if attribute.name in OBSOLETE and attribute.name not in new.attributes:
                node.attribute.remove(attribute)

    def rank(self, node: NodeProto, name: str) -> int:
        """The number of dimensions of a tensor that a node reads."""
        if self._ranks is None:
            self._ranks = ranks(self.model)
        if name not in self._ranks:
            raise ConverterError(
                f"{described(node)}: the shape of '{name}' must be known, as the node is of "
                f"operator set {self.opset}; give the model's inputs a shape, or export it with a "
                "newer operator set"
            )
        return self._ranks[name]

    def constant(self, node: NodeProto, values: Any) -> str:
        """The name of a new constant for a node."""
        from onnx import helper, numpy_helper

        name = f"{node.output[0]}/constant"
        tensor = numpy_helper.from_array(np.asarray(values, np.int64))
        self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        return name

    def with_dims_after(self, node: NodeProto, index: int, count: int) -> None:
        """Gives input `index` so many dimensions of 1 after its own."""
        from onnx import helper

        if count > 0:
            x, name = node.input[index], f"{node.output[0]}/operand"
            rank = self.rank(node, x)
            axes = list(range(rank, rank + count))
            self.nodes.append(helper.make_node("Unsqueeze", [x], [name], axes=axes))
            node.input[index] = name


def ranks(model: ModelProto) -> dict[str, int]:
    """How many dimensions the tensors of a graph have, where ONNX can tell."""
    from onnx import shape_inference

    try:
        graph = shape_inference.infer_shapes(model).graph
    except (RuntimeError, TypeError, ValueError, shape_inference.InferenceError):
        graph = model.graph
    known = {tensor.name: len(tensor.dims) for tensor in graph.initializer}
    for value in (*graph.value_info, *graph.output, *graph.input):
        if value.type.tensor_type.HasField("shape"):
            known[value.name] = len(value.type.tensor_type.shape.dim)
    return known


def described(node: NodeProto) -> str:
    """A node's operator and name, for a message."""
    return f"{node.op_type} '{node.name or next(iter(node.output), '')}'"


def _attributes(node: NodeProto) -> dict[str, Any]:
    from onnx.helper import get_attribute_value

    return {a.name: get_attribute_value(a) for a in node.attribute}


def _set(node: NodeProto, old_name: str, name: str, value: Any) -> None:
    """Replaces an attribute, or adds one."""
    from onnx.helper import make_attribute

    for attribute in list(node.attribute):
        if attribute.name == old_name:
            node.attribute.remove(attribute)
    if value is not None:
        node.attribute.append(make_attribute(name, value))


Attributes = Mapping[str, Any]


def broadcast(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The second operand's dimensions are those of the first from `axis` on."""
    if attributes.get("broadcast") and "axis" in attributes:
        rank, n = (upgrade.rank(node, name) for name in node.input)
        axis = attributes["axis"]
        upgrade.with_dims_after(node, 1, rank - n - (axis + rank if axis < 0 else axis))
    _set(node, "axis", "axis", None)


def slopes(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The slopes of PRelu are those of channels."""
    if upgrade.rank(node, node.input[1]) == 1:
        upgrade.with_dims_after(node, 1, upgrade.rank(node, node.input[0]) - 2)


def batch_normalization(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """Only that of inference has the stored mean and variance."""
    if not attributes.get("is_test"):
        raise ConverterError(
            f"{described(node)}: is_test must be 1, got {attributes.get('is_test', 0)}; export the "
            "model for inference"
        )


def cast(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The type was a word."""
    from onnx import TensorProto

    word = attributes.get("to", b"")
    if isinstance(word, bytes):
        if word.decode() not in TensorProto.DataType.keys():  # noqa: SIM118 - not a dict
            raise ConverterError(f"{described(node)}: to must be a type, got '{word.decode()}'")
        _set(node, "to", "to", TensorProto.DataType.Value(word.decode()))


def concat(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The axis has a default."""
    _set(node, "axis", "axis", attributes.get("axis", 1))


def integer_norm(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The order of the norm was a float."""
    _set(node, "p", "p", int(attributes.get("p", 2)))


def pad(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The attribute had another name."""
    if "paddings" in attributes:
        _set(node, "paddings", "pads", attributes["paddings"])


def reshape(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The shape was an attribute."""
    if len(node.input) == 1:
        node.input.append(upgrade.constant(node, attributes.get("shape", [])))
    _set(node, "shape", "shape", None)


def selu(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The defaults had fewer digits."""
    for name, default in SELU.items():
        _set(node, name, name, attributes.get(name, default))


def split(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """The sizes could be an input."""
    from onnx.numpy_helper import to_array

    if len(node.input) < 2:
        return
    sizes = [t for t in upgrade.model.graph.initializer if t.name == node.input[1]]
    if not sizes:
        raise ConverterError(f"{described(node)}: input 1 ('{node.input[1]}') must be constant")
    _set(node, "split", "split", to_array(sizes[0]).tolist())
    del node.input[1:]


def tile(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """It repeated along one axis."""
    raise ConverterError(
        f"{described(node)}: that of operator set {upgrade.opset} is not supported; export the "
        "model with a newer operator set"
    )


def upsample(upgrade: _Upgrade, node: NodeProto, attributes: Attributes) -> None:
    """It scaled images alone, with a factor for each side."""
    scales = [1.0, 1.0, attributes.get("height_scale", 1.0), attributes.get("width_scale", 1.0)]
    _set(node, "height_scale", "scales", scales)
    _set(node, "width_scale", "", None)
    if attributes.get("mode") == b"bilinear":
        _set(node, "mode", "mode", "linear")


RULES: dict[str, Callable[[_Upgrade, Any, Attributes], None]] = {
    **dict.fromkeys(BROADCASTING, broadcast),
    "BatchNormalization": batch_normalization,
    "Cast": cast,
    "Concat": concat,
    "GlobalLpPool": integer_norm,
    "LpPool": integer_norm,
    "PRelu": slopes,
    "Pad": pad,
    "Reshape": reshape,
    "Selu": selu,
    "Split": split,
    "Tile": tile,
    "Upsample": upsample,
}
"""What becomes of the operators whose meaning changed."""
