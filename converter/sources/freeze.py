"""Graphs without variables: every variable becomes a constant of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...graph.core.attributes import FunctionRef
from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.library import Function
from ...graph.core.order import is_back_edge, ordered
from ...graph.core.shapes import Shape
from ...graph.format.inline import inline
from ...graph.format.rebuild import Copy, rebuild
from ...schema.errors import ModelError
from .branches import has_branches, resolve_branches
from .effects import flat_body, needed_operations, refuse_effects
from .functionalize_control_flow import functionalize_control_flow
from .handles import (
    CALLING,
    HANDLES,
    LOOPS,
    PASSING,
    READING,
    REFERENCE_PASSING,
    REFERENCES,
    Handles,
    follow,
)
from .source import some

if TYPE_CHECKING:
    from ...graph.core.protocols import AttrValue


class Ends(NamedTuple):
    """Where a computation begins and ends.

    Attributes:
        inputs: the tensors that become placeholders, with what is known of their shapes.
        outputs: the tensors to compute.
    """

    inputs: Sequence[tuple[Tensor, Shape]]
    outputs: Sequence[Tensor]


Values = Callable[[list[Operation]], Mapping[Operation, np.ndarray]]
"""Gives the values of variables; raises when some have none."""

NO_NAMES: frozenset[str] = frozenset()
OUTPUT_SHAPES = "_output_shapes"  # what TensorFlow noted is the shape of a handle, not of a value


def freeze(
    graph: Graph,
    inputs: Sequence[tuple[Tensor, Shape]],
    outputs: Sequence[Tensor],
    values: Values,
) -> Graph:
    """What `outputs` need of `graph`, with functions inlined and variables made constants.

    Args:
        graph: Gets these inputs and outputs; its operations are left as they are.
        inputs: The tensors that become placeholders, with what is known of their shapes.
        outputs: The tensors to compute.
        values: Is called once, with all variables that are needed.

    Raises:
        UnsupportedOps: The computation writes to a variable that outputs depend on, or does
            something else that is not computing them.
        ValueError: The computation needs a placeholder that is not among the inputs.
    """
    return freeze_all(graph, [Ends(inputs, outputs)], values)[0]


def freeze_all(graph: Graph, computations: Sequence[Ends], values: Values) -> list[Graph]:
    """What `freeze` gives, for each of several computations that share their variables."""
    flat_graphs = [_flat(graph, ends) for ends in computations]
    refuse_effects(flat_graphs)
    return [
        _frozen(flat_graph, ends, values)
        for flat_graph, ends in zip(flat_graphs, computations, strict=True)
    ]


def _flat(graph: Graph, ends: Ends) -> Graph:
    """What a computation needs of `graph`, with its inputs and outputs and no calls."""
    graph.inputs = [tensor for tensor, _ in ends.inputs]
    graph.outputs = list(ends.outputs)
    return resolve_branches(inline(rebuild(graph, [tensor.op for tensor in ends.outputs])))


def _frozen(flat: Graph, ends: Ends, values: Values) -> Graph:
    freezer = _Freezer(flat, {}, values)
    for i, (tensor, shape) in enumerate(ends.inputs):
        freezer.add_input(i, "Placeholder", {"dtype": tensor.dtype, "shape": shape})
    return functionalize_control_flow(freezer.build())


class _Freezer:
    """Makes the frozen copy of one graph.

    A handle of a variable is followed from operation to operation, and the value of the variable
    put wherever the handle was.
    """

    def __init__(
        self,
        graph: Graph,
        handles: Handles,
        values: Values,
        path: tuple[str, ...] = (),
    ):
        """Prepares.

        Args:
            graph: Flat, with inputs and outputs.
            handles: The variables whose handles are inputs of the graph.
            values: Gives the values of the graph's own variables.
            path: The functions that called one another up to this graph.
        """
        self.values, self.path = values, path
        self.old = graph
        self.inputs = {tensor: i for i, tensor in enumerate(graph.inputs or ())}
        self.outputs = list(graph.outputs or ())
        self.copy = Copy(Graph(graph.functions))
        self.new_inputs: list[Tensor] = []
        outputs = [tensor.op for tensor in self.outputs if tensor not in self.inputs]
        self.needed = needed_operations(outputs, self.inputs)
        self.has_branches = has_branches(self.needed)
        self.variables = follow([op for op in graph.operations if op in self.needed], handles)

    def add_input(self, i: int, kind: str, attrs: Mapping[str, AttrValue]) -> Tensor:
        """Replaces the i-th input by an operation, which keeps its name where it can."""
        tensor = list(self.inputs)[i]
        name = tensor.op.name
        if tensor.value_index or tensor.op in self.needed:
            name = f"{name}/output_{tensor.value_index}"
            while name in self.old:
                name += "_"
        new = self.copy.graph.add(kind, name, (), attrs).outputs[0]
        self.copy.tensors[tensor] = new
        self.new_inputs.append(new)
        return new

    def build(self) -> Graph:
        """The frozen graph, after all its inputs were added."""
        order = ordered([op for op in self.old.operations if op in self.needed], self._producers)
        self._refuse_placeholders(order)
        variables = [op for op in order if op.type in REFERENCES + HANDLES]
        arrays = self.values(variables) if variables else {}
        for op in order:
            if op in arrays:
                attrs = {"value": arrays[op], "dtype": arrays[op].dtype}
                self._map_to(op, [self.copy.graph.add("Const", op.name, (), attrs).outputs[0]])
            else:
                self._convert(op)
        for op in order:
            self.copy.close_loops(op)
        self.copy.graph.inputs = self.new_inputs
        self.copy.graph.outputs = [self.copy.tensors[tensor] for tensor in self.outputs]
        return self.copy.graph

    def _convert(self, op: Operation) -> None:
        """Adds what replaces one operation to the copy."""
        is_variable = [tensor in self.variables for tensor in op.inputs]
        if any(is_variable) and op.type in READING:
            self._map_to(op, READING[op.type](self.copy, op))
        elif any(is_variable) and op.type in CALLING:
            self._add(op, op.type, self._call_attrs(op))
        elif any(is_variable) and op.type in PASSING:
            self._add(
                op, op.type, {k: v for k, v in op.attrs.items() if k not in ("T", OUTPUT_SHAPES)}
            )
        else:
            self._add(op, REFERENCE_PASSING.get(op.type, op.type), op.attrs)

    def _add(self, op: Operation, kind: str, attrs: Mapping[str, AttrValue]) -> None:
        controls = self.copy.control_inputs(op) if self.has_branches else ()
        inputs = self.copy.inputs(op)
        graph, n_outputs = self.copy.graph, len(op.outputs)
        new = graph.add(kind, op.name, inputs, attrs, controls, op.device, n_outputs)
        self._map_to(op, new.outputs, [new])

    def _map_to(self, op: Operation, tensors: list[Tensor], ends: Iterable[Operation] = ()) -> None:
        """Maps an operation to its tensors in the copy, but for outputs that are its inputs."""
        inputs = {t: self.new_inputs[self.inputs[t]] for t in op.outputs if t in self.inputs}
        self.copy.maps_to(op, tensors, ends or [tensor.op for tensor in tensors])
        self.copy.tensors.update(inputs)

    def _call_attrs(self, op: Operation) -> dict[str, AttrValue]:
        """The attributes of a call whose functions get values where they got handles."""
        skipped = CALLING[op.type]
        inputs = [self.copy.tensors[tensor] for tensor in op.inputs[skipped:]]
        names = [self.variables.get(tensor, NO_NAMES) for tensor in op.inputs[skipped:]]
        arguments = op.signature.inputs if op.signature else ()
        lists = [argument.dtype for argument in arguments if argument.is_list]
        attrs = {
            key: value for key, value in op.attrs.items() if key not in (*lists, OUTPUT_SHAPES)
        }
        output_shapes = attrs.get("output_shapes")
        if (
            op.type in LOOPS
            and isinstance(output_shapes, list)
            and len(output_shapes) == len(inputs)
        ):
            known = [tensor.shape for tensor in inputs]
            rows = zip(output_shapes, known, names, strict=True)
            attrs["output_shapes"] = [b if name else a for a, b, name in rows]
        for key, value in attrs.items():
            if isinstance(value, FunctionRef):
                attrs[key] = self._frozen_function(value, inputs, names)
            elif isinstance(value, list) and value and isinstance(value[0], FunctionRef):
                attrs[key] = [
                    self._frozen_function(cast("FunctionRef", item), inputs, names)
                    for item in value
                ]
        return attrs

    def _frozen_function(
        self, reference: FunctionRef, inputs: Sequence[Tensor], names: Sequence[frozenset[str]]
    ) -> FunctionRef:
        """A function like another one, with the value of the variable for each handle it gets."""
        library, name = self.old.functions, reference.name
        if name in self.path:
            raise ModelError(f"Functions must not call themselves, got '{name}'")
        body = flat_body(self.old, reference)
        arguments = list(body.inputs or ())
        if len(arguments) != len(inputs):
            n = len(arguments)
            raise ModelError(f"Function '{name}' takes {n} inputs, and is given {len(inputs)}")
        handles = {arguments[i]: variable for i, variable in enumerate(names) if variable}
        freezer = _Freezer(body, handles, self.values, (*self.path, name))
        for i, tensor in enumerate(inputs):
            argument = freezer.add_input(i, "_Arg", {"T": tensor.dtype, "index": i})
            if names[i]:
                argument.set_shape(tensor.shape)
        frozen = library.unique_name(f"{name}_frozen")
        library.add(Function.of(frozen, freezer.build()))
        return FunctionRef(frozen)

    def _producers(self, op: Operation) -> list[Operation]:
        producers = [
            tensor.op
            for tensor in op.inputs
            if tensor not in self.inputs and not is_back_edge(op.type, tensor.op.type)
        ]
        return producers + op.control_inputs if self.has_branches else producers

    def _refuse_placeholders(self, order: Iterable[Operation]) -> None:
        missing = [op.name for op in order if op.type in ("Placeholder", "PlaceholderV2")]
        if missing:
            raise ValueError(
                f"The outputs need the placeholders {some(missing)}, which are not among the "
                "inputs; add them to input_arrays, or make them constants before the graph is "
                "frozen"
            )
