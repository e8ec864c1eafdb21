"""Walks the operators of an IR graph and adds TensorFlow's operations to the default graph."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...graph.core import graph as tf
from ...graph.core.build import ops
from ...graph.core.create import constant, convert_to_tensor
from ...graph.core.function_graph import outermost
from ...graph.core.scopes import control_dependencies, get_default_graph, name_scope
from ...graph.variables.variables import Variable
from ...schema.errors import UnsupportedOps
from ...schema.tables import name_of
from ..ir import graph as ir
from ..ir.pseudo import operator
from ..tf.flex import PREFIX
from .elementwise import FUSED_ACTIVATIONS
from .node import Node
from .quantized import dequantized, fake_quantized, is_quantized
from .registry import RAISES
from .state import Resources
from .trainable import Weight, WeightFilter

INVALID = re.compile(r"[^A-Za-z0-9_.\\/>-]")


class ModelOperand(NamedTuple):
    """Data of the model in the graph.

    Attributes:
        value: a variable, or an array that constants are made of.
        order: the axes of the original that its axes are, None for all in order.
        shape: that it has after that, None for the same.
        original: the original's shape.
    """

    value: Any
    order: tuple[int, ...] | None
    shape: tuple[int, ...] | None
    original: tuple[int, ...]


class Raiser:
    """Raises graphs of one model.

    Args:
        weights: which of the model's constants become variables.
        graphs: all graphs of the model.
        unroll: whether sequences of known length are written out step by step.

    Attributes:
        variables: those by name, and the model's own.
        resources: the model's own variables.
    """

    def __init__(self, weights: WeightFilter, graphs: list[ir.Graph], unroll: bool) -> None:
        self.weights, self.unroll = weights, unroll
        self.variables: dict[str, Variable] = {}
        self.resources = Resources(graphs)
        for graph in graphs:
            weights.learn(Weight.all_of(graph))
        weights.learn(Weight(name, ()) for name in self.resources.first_names)
        self._reserved: dict[str, str] = {}
        self._operands: dict[int, ModelOperand] = {}
        self._alive: list[ir.Tensor] = []

    def reserve(self, graph: tf.Graph) -> None:
        """Keeps the names of what becomes a variable free of operations."""
        names = [weight.name for weight in self.weights.known if self.weights.takes(weight)]
        for name in dict.fromkeys([*names, *self.resources.names]):
            self._reserved[name] = graph.unique_name(valid_name(name))

    def run(self, graph: ir.Graph, arguments: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """The results of a graph on tensors of the default graph, one for each of its inputs."""
        body = Body(self, graph, arguments)
        for op in graph.ops:
            body.add(op)
        return body.results()

    def model_operand(
        self,
        node: Node,
        i: int,
        tensor: ir.Tensor,
        order: tuple[int, ...] | None,
        shape: tuple[int, ...] | None,
    ) -> ModelOperand:
        """Data of the model, a variable where it is to be trained; stored in one form only."""
        if id(tensor) not in self._operands:
            array = dequantized(tensor)
            original = array.shape
            weight = Weight.of(node.op, i, tensor)
            is_trained = weight is not None and self.weights.takes(weight)
            if is_trained:
                array = arranged_array(array, order, shape)
                value = self._variable(weight.name if weight else "", array, True)
                self._operands[id(tensor)] = ModelOperand(value, order, shape, original)
            else:
                self._operands[id(tensor)] = ModelOperand(array, None, None, original)
            self._alive.append(tensor)
        return self._operands[id(tensor)]

    def model_variable(self, name: str, value: np.ndarray) -> Variable:
        """A variable of the model's own, to be trained where it is chosen as a weight."""
        weight = Weight(name, ()) if value.dtype.kind == "f" else None
        return self._variable(name, value, weight is not None and self.weights.takes(weight))

    def _variable(self, name: str, array: np.ndarray, trainable: bool) -> Variable:
        graph = outermost(get_default_graph())
        reserved = self._reserved.pop(name, "")
        variable_name = f"{reserved}/" if reserved else valid_name(name)
        with graph.as_default(), graph.name_scope(None):
            variable = Variable(array, trainable, name=variable_name, use_resource=True)
        self.variables[variable.op.name] = variable
        return variable


class Body:
    """One graph of the IR as it is raised: its tensors in the default graph."""

    def __init__(self, raiser: Raiser, graph: ir.Graph, arguments: Sequence[tf.Tensor]) -> None:
        self.raiser, self.graph = raiser, graph
        self.last_write: tf.Operation | None = None
        self._tensors: dict[int, Any] = {}
        for tensor, argument in zip(graph.inputs, arguments, strict=True):
            self._tensors[id(tensor)] = self._fake_quantized(tensor, argument)

    def add(self, op: ir.Op) -> None:
        """Raises one operator."""
        row = operator(op.kind) if op.kind != "CUSTOM" else None
        is_folded = all(tensor.value is not None for tensor in op.outputs)
        if op.outputs and is_folded and row is not None and row.is_pure and not row.calls:
            return  # its readers take the constants
        function, deferred = RAISES.known(op.kind)
        node = Node(op, self)
        with name_scope(self._scope(op)):
            operands = [None if i in deferred else node.operand(i) for i in range(len(op.inputs))]
            try:
                if row is not None and not row.is_pure:
                    results = self._in_order(node, function, operands)
                else:
                    results = function(node, *operands)
            except TypeError as error:  # TensorFlow's operations take fewer types
                if not str(error).startswith("Value passed to parameter"):
                    raise
                node.fail(f"no operation of TensorFlow does that: {error}")
            results = list(results) if isinstance(results, (list, tuple)) else [results]
            for tensor, result in zip(op.outputs, results, strict=False):
                if row is not None and row.has("activation"):
                    result = activated(node, result)
                self._tensors[id(tensor)] = self._finished(op, tensor, result)

    def _scope(self, op: ir.Op) -> str:
        name = valid_name(op.outputs[0].name if op.outputs else op.origin or op.kind)
        return name if not name.endswith("/") else name[:-1]

    def _in_order(self, node: Node, function: Any, operands: Sequence[Any]) -> Any:
        """What has effects comes after the one before that has."""
        before = [] if self.last_write is None else [self.last_write]
        with control_dependencies(before):
            results = function(node, *operands)
        for result in results if isinstance(results, (list, tuple)) else [results]:
            operation = result if isinstance(result, tf.Operation) else getattr(result, "op", None)
            if operation is not None:
                self.last_write = operation
        return results

    def results(self) -> list[tf.Tensor]:
        """The graph's outputs, after all that has effects."""
        tensors = [self._value(tensor) for tensor in self.graph.outputs]
        if self.last_write is None:
            return tensors
        with control_dependencies([self.last_write]):
            return [ops.Identity(tensor) for tensor in tensors]

    def _value(self, tensor: ir.Tensor) -> tf.Tensor:
        if id(tensor) not in self._tensors:
            return constant(dequantized(tensor))
        return self._tensors[id(tensor)]

    def operand(
        self,
        node: Node,
        i: int,
        tensor: ir.Tensor,
        order: Sequence[int] | None = None,
        shape: tuple[int, ...] | None = None,
    ) -> tf.Tensor | None:
        """Operand `i` of an operator as a tensor of the default graph."""
        arranged = None if order is None else tuple(order)
        if id(tensor) in self._tensors:
            return arranged_tensor(self._tensors[id(tensor)], arranged, shape)
        if tensor.value is None:
            if tensor.is_variable:
                return None  # a state that starts from zeros
            node.fail(f"'{tensor.name}' is neither computed nor given")
        source = self.raiser.model_operand(node, i, tensor, arranged, shape)
        if not isinstance(source.value, np.ndarray):
            return _of_variable(source, arranged, shape)
        rows = operator(node.kind).operands if node.kind != "CUSTOM" else ()
        label = rows[i].name if i < len(rows) else "value"
        return constant(arranged_array(source.value, arranged, shape), name=label)

    def _finished(self, op: ir.Op, tensor: ir.Tensor, result: Any) -> Any:
        """A result on the grid of its quantization, unless it is of an operand that is."""
        if not is_quantized(tensor):
            return result
        row = operator(op.kind)
        grids = {t.quantization for t in op.present_inputs if is_quantized(t)}
        if (row.has("moves") or row.has("selects")) and grids == {tensor.quantization}:
            return result
        return self._fake_quantized(tensor, result)

    def _fake_quantized(self, tensor: ir.Tensor, value: tf.Tensor) -> tf.Tensor:
        return fake_quantized(tensor, value) if is_quantized(tensor) else value


def activated(node: Node, result: tf.Tensor) -> tf.Tensor:
    """A result with the fused activation as an operation of its own."""
    number = getattr(node.options, "fused_activation_function", 0)
    function = FUSED_ACTIVATIONS.get(name_of("ActivationFunctionType", number))
    return result if function is None else function(result)


def valid_name(name: str) -> str:
    """A tensor's name as that of an operation."""
    text = INVALID.sub("_", name.removesuffix(":0").partition(";")[0]).strip("/")
    if not text or not re.match(r"[A-Za-z0-9.]", text):
        text = f"t{text}"
    return text


def arranged_array(
    array: np.ndarray, order: tuple[int, ...] | None, shape: tuple[int, ...] | None
) -> np.ndarray:
    """An array transposed, then in another shape."""
    array = array if order is None else array.transpose(order)
    return array if shape is None else array.reshape(shape)


def arranged_tensor(
    tensor: tf.Tensor, order: tuple[int, ...] | None, shape: tuple[int, ...] | None
) -> tf.Tensor:
    """The same of a tensor."""
    if order is not None:
        tensor = ops.Transpose(tensor, np.array(order, np.int32))
    return tensor if shape is None else ops.Reshape(tensor, np.array(shape, np.int32))


def _of_variable(
    source: ModelOperand, order: tuple[int, ...] | None, shape: tuple[int, ...] | None
) -> tf.Tensor:
    """A variable in the form in which it is read; back to the original's, where that is another."""
    tensor = convert_to_tensor(source.value)
    if (source.order, source.shape) == (order, shape):
        return tensor
    if source.shape is not None:
        axes = source.order or range(len(source.original))
        tensor = arranged_tensor(tensor, None, tuple(source.original[i] for i in axes))
    if source.order is not None:
        tensor = arranged_tensor(tensor, tuple(np.argsort(source.order).tolist()), None)
    return arranged_tensor(tensor, order, shape)


def is_flex(op: ir.Op) -> bool:
    """Whether an operator is one of TensorFlow's."""
    return op.kind == "CUSTOM" and op.custom_code.startswith(PREFIX)


def refuse_unknown(graphs: Sequence[ir.Graph]) -> None:
    """Raises UnsupportedOps listing the operators that have no raise."""
    missing: dict[str, list[str]] = {}
    for graph in graphs:
        for op in graph.ops:
            kind = op.kind if op.kind != "CUSTOM" else f"CUSTOM {op.custom_code}"
            if RAISES.get(op.kind) is None or (kind != op.kind and not is_flex(op)):
                missing.setdefault(kind, []).append(op.name)
    if not missing:
        return
    lines = [
        f"  {kind} x {len(names)}, first '{names[0]}'" for kind, names in sorted(missing.items())
    ]
    listed = ", ".join("Flex..." if kind == "CUSTOM" else kind for kind in RAISES.names())
    raise UnsupportedOps(
        "to_graph: some operators have no form in TensorFlow's operations here:\n"
        + "\n".join(lines)
        + "\nCut the model before them (flatlite.edit.cut), or replace them. Those that have one:\n"
        + listed
    )
