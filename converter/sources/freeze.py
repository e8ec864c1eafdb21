"""Graphs without variables: every variable becomes a constant of its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from ...graph.core.graph import Graph, Operation, Tensor
from ...graph.core.library import Function
from ...graph.core.order import Cycle, is_back_edge, ordered
from ...graph.core.shapes import Shape
from ...graph.core.signatures.attributes import FunctionRef
from ...graph.format.dataflow import dataflow_form
from ...graph.format.dataflow_graph import ControlFlow, has_control_flow, reached
from ...graph.format.functionalize import functionalize
from ...graph.format.inline import inline
from ...graph.format.rebuild import Copy, rebuild
from ...graph.format.tensor_lists import arrays_as_lists
from ...graph.ops.state.tables import MUTABLE_TABLES, TABLE_KEYS, TABLE_VALUES
from ...schema.errors import InvalidArgumentError, ModelError, UnsupportedOps
from .branches import has_branches, resolve_branches
from .composites import composite
from .effects import (
    CHECKPOINT_READERS,
    changing_variables,
    checkpoint_writers,
    closure,
    flat_body,
    needed_operations,
)
from .handles import (
    BRANCHING,
    CALLING,
    HANDLES,
    LOOPS,
    PASSING,
    READING,
    REFERENCE_PASSING,
    REFERENCES,
    Handles,
    follow,
    is_handle,
)
from .learned_ranges import stop_learning
from .source import PlaceholdersError, some
from .state import State, StateVariable, Table
from .tables import HASH_TABLES
from .writes import WRITING, drop_unchanging_writes, written

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
TableContents = Callable[[Operation], Table | None]
"""Gives what a table holds, None when nothing is known to fill it."""


class Frozen(NamedTuple):
    """A computation without variables.

    Attributes:
        graph: its inputs and outputs are those of the computation, and then those of
            `state_variables`; its `control_outputs` write checkpoints.
        state_variables: the variables that are written, here or by a computation that shares them.
        state: what these variables, and tables, are at first.
    """

    graph: Graph
    state_variables: tuple[StateVariable, ...]
    state: State


NO_NAMES: frozenset[str] = frozenset()
ARRAY = "TensorArrayV3"
OUTPUT_SHAPES = "_output_shapes"  # what TensorFlow noted is the shape of a handle, not of a value


def freeze(
    graph: Graph,
    inputs: Sequence[tuple[Tensor, Shape]],
    outputs: Sequence[Tensor],
    values: Values,
    tables: TableContents | None = None,
) -> Frozen:
    """What `outputs` need of `graph`, with functions inlined and variables made constants.

    Args:
        graph: Gets these inputs and outputs; its operations are left as they are.
        inputs: The tensors that become placeholders, with what is known of their shapes.
        outputs: The tensors to compute.
        values: Is called with variables that are needed.
        tables: Gives the contents of tables.

    Raises:
        UnsupportedOps: The computation writes to a variable in a way that has no form here, or does
            something else that is not computing them.
        ValueError: The computation needs a placeholder that is not among the inputs.
    """
    return freeze_all(graph, [Ends(inputs, outputs)], values, tables)[0]


def freeze_all(
    graph: Graph, computations: Sequence[Ends], values: Values, tables: TableContents | None = None
) -> list[Frozen]:
    """What `freeze` gives, for each of several computations that share their variables."""
    flat_graphs = [_flat(graph, ends) for ends in computations]
    context = _Context(values, changing_variables(flat_graphs), tables, State())
    return [
        _frozen(flat_graph, ends, context)
        for flat_graph, ends in zip(flat_graphs, computations, strict=True)
    ]


class _Context(NamedTuple):
    """What the computations of a model share.

    Attributes:
        values: gives the values of variables.
        changing: the variables that are written, and read.
        tables: gives the contents of tables.
        state: takes what changes, and the tables.
    """

    values: Values
    changing: frozenset[str]
    tables: TableContents | None
    state: State


def _flat(graph: Graph, ends: Ends) -> Graph:
    """What a computation needs of `graph`, with its inputs and outputs and no calls."""
    graph.inputs = [tensor for tensor, _ in ends.inputs]
    graph.outputs = list(ends.outputs)
    needed = rebuild(graph, [tensor.op for tensor in ends.outputs])
    expanded = _expand_modules(inline(needed, composite))
    return resolve_branches(stop_learning(drop_unchanging_writes(expanded)))


def _arrays_beside_loops(graph: Graph) -> Graph:
    """`graph`, or a copy in which loops and branches that use tensor arrays call no functions."""
    if all(op.type != ARRAY for op in graph.operations) and not any(
        function.uses(ARRAY) for function in graph.functions.values()
    ):
        return graph
    written = dataflow_form(graph)
    return graph if written is None else written.graph


def _functional(graph: Graph) -> Graph:
    """`graph`, or a copy in which loops and branches of TensorFlow 1 are calls of functions.

    What has another form than TensorFlow gives it stays as it is.
    """
    if not has_control_flow(graph.operations):
        return graph
    inputs, outputs = graph.inputs or [], graph.outputs or []
    ends = [*inputs, *outputs, *graph.control_outputs]
    try:
        flow = ControlFlow(reached(ends, ()), (), reads_around=True)
    except (InvalidArgumentError, Cycle):
        return graph
    functional = functionalize(flow, ends, {}, has_effects=False)
    if functional is None:
        return graph
    result = functional.graph
    result.inputs = [functional.tensors[tensor] for tensor in inputs]
    result.outputs = [functional.tensors[tensor] for tensor in outputs]
    result.control_outputs = [
        new for op in graph.control_outputs for new in functional.operations[op]
    ]
    return result


def _expand_modules(graph: Graph) -> Graph:
    """`graph`, each module of StableHLO replaced by what it consists of."""
    if all(op.type != "XlaCallModule" for op in graph.operations):
        return graph
    from ...graph.stablehlo.expand import expand_modules  # only what JAX writes needs it

    return expand_modules(graph)


def _frozen(flat: Graph, ends: Ends, context: _Context) -> Frozen:
    freezer = _Freezer(flat, {}, context)
    for i, (tensor, shape) in enumerate(ends.inputs):
        freezer.add_input(i, "Placeholder", {"dtype": tensor.dtype, "shape": shape})
    graph, state_variables = freezer.build(), []
    for name, tensor in freezer.state_variables.items():
        new = freezer.current[name]
        state_variables.append(StateVariable(name, new is not tensor))
        graph.inputs = [*(graph.inputs or ()), tensor]
        if new is not tensor:
            graph.outputs = [*(graph.outputs or ()), new]
    graph = _functional(arrays_as_lists(_arrays_beside_loops(graph)))
    return Frozen(graph, tuple(state_variables), context.state)


class _Freezer:
    """Makes the frozen copy of one graph.

    A handle of a variable is followed from operation to operation, and the value of the variable
    put wherever the handle was.
    """

    def __init__(
        self,
        graph: Graph,
        handles: Handles,
        context: _Context,
        path: tuple[str, ...] = (),
    ):
        """Prepares.

        Args:
            graph: Flat, with inputs and outputs.
            handles: The variables whose handles are inputs of the graph.
            context: What it shares with the other computations.
            path: The functions that called one another up to this graph.
        """
        self.context, self.path = context, path
        self.current: dict[str, Tensor] = {}
        self.state_variables: dict[str, Tensor] = {}
        self.old = graph
        self.inputs = {tensor: i for i, tensor in enumerate(graph.inputs or ())}
        self.outputs = list(graph.outputs or ())
        self.copy = Copy(Graph(graph.functions))
        self.new_inputs: list[Tensor] = []
        self.savers = [] if path else checkpoint_writers(graph.control_outputs)
        outputs = [tensor.op for tensor in self.outputs if tensor not in self.inputs]
        outputs += self.savers
        self.variables, writers = {}, []
        if context.changing:
            self.variables = follow(graph.operations, handles)
            writers = [op for op in graph.operations if self._changed_by(op)]
        self.needed = needed_operations([*outputs, *writers], self.inputs)
        self.is_ordered = has_branches(self.needed)
        if writers and self.is_ordered:
            op, names = writers[0], self._changed_by(writers[0])
            raise UnsupportedOps(
                "Variables that change beside branches or loops of TensorFlow 1 are not "
                f"supported:\n  {op.type} '{op.name}' on variable {some(sorted(names))}\n"
                "Save the model with TensorFlow 2's control flow "
                "(tf.compat.v1.enable_control_flow_v2())."
            )
        self.running = self.needed
        if writers:
            ends = [*outputs, *writers, *graph.control_outputs]
            self.running = closure(ends, self.inputs, with_control=True)
        self.variables = follow([op for op in graph.operations if op in self.running], handles)
        self.arguments = handles
        self._refuse_saving_and_restoring()

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
        order = ordered([op for op in self.old.operations if op in self.running], self._producers)
        order = [op for op in order if op in self.needed]
        self._refuse_placeholders(order)
        for tensor, names in self.arguments.items():
            if names <= self.context.changing and tensor in self.inputs:
                self.current[self._name(names)] = self.new_inputs[self.inputs[tensor]]
        variables = [op for op in order if op.type in REFERENCES + HANDLES]
        arrays = self.context.values(variables) if variables else {}
        for op in order:
            if op in arrays:
                self._map_to(op, [self._variable(op, arrays[op])])
            else:
                self._follow_changes(op.inputs)
                self._convert(op)
        for op in order:
            self.copy.close_loops(op)
        self._follow_changes([tensor for tensor in self.outputs if is_handle(tensor)])
        self.copy.graph.inputs = self.new_inputs
        self.copy.graph.outputs = [self.copy.tensors[tensor] for tensor in self.outputs]
        self.copy.graph.control_outputs = [
            new for op in self.savers for new in self.copy.controls[op]
        ]
        return self.copy.graph

    def _variable(self, op: Operation, array: np.ndarray) -> Tensor:
        """The constant that a variable becomes; an input for one that changes."""
        if op.name not in self.context.changing:
            attrs = {"value": array, "dtype": array.dtype}
            return self.copy.graph.add("Const", op.name, (), attrs).outputs[0]
        attrs = {"dtype": array.dtype, "shape": array.shape}
        tensor = self.copy.graph.add("Placeholder", op.name, (), attrs).outputs[0]
        self.current[op.name] = self.state_variables[op.name] = tensor
        self.context.state.variables[op.name] = array
        return tensor

    def _follow_changes(self, tensors: Iterable[Tensor]) -> None:
        """Lets handles of variables that change stand for the values they have now."""
        for tensor in tensors:
            names = self.variables.get(tensor, NO_NAMES) & self.context.changing
            if names:
                self.copy.tensors[tensor] = self.current[self._name(names)]

    @staticmethod
    def _name(names: frozenset[str]) -> str:
        """The one variable that a handle is of."""
        if len(names) > 1:
            raise UnsupportedOps(
                f"A handle is of one of the variables {some(sorted(names))}, which change; use one "
                "variable in each place"
            )
        return next(iter(names))

    def _changed_by(self, op: Operation) -> frozenset[str]:
        """The variables that change whose new values an operation may give."""
        if op.type in CALLING:
            tensors = op.inputs[CALLING[op.type] :]
        elif op.type in WRITING:
            tensors = [op.inputs[i] for i in WRITING[op.type].positions]
        else:
            return NO_NAMES
        names = [self.variables.get(tensor, NO_NAMES) for tensor in tensors]
        return NO_NAMES.union(*names) & self.context.changing

    def _write(self, op: Operation) -> None:
        """Gives the variables that an operation writes their new values."""
        values = written(self.copy, op)
        for position, value in values.items():
            name = self._name(self.variables[op.inputs[position]])
            old = self.current[name]
            value.set_shape(old.sizes)
            self._note_restored(op, old)
            self.current[name] = value
        first = values[WRITING[op.type].positions[0]]
        self._map_to(op, [first] * len(op.outputs), [])

    def _note_restored(self, op: Operation, variable: Tensor) -> None:
        """A checkpoint's tensor that is assigned as it is has the shape of the variable."""
        for tensor in op.inputs[1:2]:
            if tensor.op.type in CHECKPOINT_READERS:
                self.copy.tensors[tensor].set_shape(variable.sizes)

    def _convert(self, op: Operation) -> None:
        """Adds what replaces one operation to the copy."""
        if op.type in WRITING and self._changed_by(op):
            self._write(op)
            return
        is_variable = [tensor in self.variables for tensor in op.inputs]
        if any(is_variable) and op.type in READING:
            self._map_to(op, READING[op.type](self.copy, op))
        elif op.type in CALLING:
            self._call(op)
        elif any(is_variable) and op.type in PASSING:
            self._add(
                op, op.type, {k: v for k, v in op.attrs.items() if k not in ("T", OUTPUT_SHAPES)}
            )
        elif op.type in HASH_TABLES:
            self._add(op, op.type, self._table_attrs(op))
        elif op.type in MUTABLE_TABLES:
            self._add_mutable_table(op)
        else:
            self._add(op, REFERENCE_PASSING.get(op.type, op.type), op.attrs)

    def _add_mutable_table(self, op: Operation) -> None:
        """Adds a table that may change; one whose contents are known as one that does not."""
        attrs = self._table_attrs(op)
        if TABLE_KEYS not in attrs or attrs.get("value_shape"):
            self._add(op, op.type, attrs)
            return
        names = ("key_dtype", "value_dtype", TABLE_KEYS, TABLE_VALUES)
        attrs = {name: attrs[name] for name in names}
        new = self.copy.graph.add("HashTableV2", op.name, [], attrs)
        self._map_to(op, new.outputs, [new])

    def _table_attrs(self, op: Operation) -> dict[str, AttrValue]:
        """The attributes of a table, with its contents."""
        table = self.context.tables(op) if self.context.tables is not None else None
        if table is None:
            return dict(op.attrs)
        self.context.state.tables[op.name] = table
        return {**op.attrs, TABLE_KEYS: table.keys, TABLE_VALUES: table.values}

    def _call(self, op: Operation) -> None:
        """Adds a call; branches give the variables that change after their own results."""
        changed = sorted(self._changed_by(op))
        extra = changed if op.type in BRANCHING else []
        attrs = self._call_attrs(op, extra)
        if not changed:
            self._add(op, op.type, attrs)
            return
        n = len(op.outputs)
        inputs, graph = self.copy.inputs(op), self.copy.graph
        new = graph.add(op.type, op.name, inputs, attrs, (), op.device, n + len(extra))
        self._map_to(op, new.outputs[:n], [new])
        for i, name in enumerate(extra):
            new.outputs[n + i].set_shape(self.current[name].sizes)
            self.current[name] = new.outputs[n + i]
        if not extra:
            for i, tensor in enumerate(op.inputs):
                names = self.variables.get(tensor, NO_NAMES) & self.context.changing
                if names:
                    self.current[self._name(names)] = new.outputs[i]

    def _add(self, op: Operation, kind: str, attrs: Mapping[str, AttrValue]) -> None:
        controls = self.copy.control_inputs(op) if self.is_ordered else ()
        inputs = self.copy.inputs(op)
        graph, n_outputs = self.copy.graph, len(op.outputs)
        like = op if kind == op.type and attrs is op.attrs else None
        new = graph.add(kind, op.name, inputs, attrs, controls, op.device, n_outputs, like)
        self._map_to(op, new.outputs, [new])

    def _map_to(self, op: Operation, tensors: list[Tensor], ends: Iterable[Operation] = ()) -> None:
        """Maps an operation to its tensors in the copy, but for outputs that are its inputs."""
        inputs = {t: self.new_inputs[self.inputs[t]] for t in op.outputs if t in self.inputs}
        self.copy.maps_to(op, tensors, ends or [tensor.op for tensor in tensors])
        self.copy.tensors.update(inputs)

    def _call_attrs(self, op: Operation, extra: Sequence[str] = ()) -> dict[str, AttrValue]:
        """The attributes of a call whose functions get values where they got handles, and are flat.

        They also give the values of the variables `extra`.
        """
        skipped = CALLING[op.type]
        inputs = [self.copy.tensors[tensor] for tensor in op.inputs[skipped:]]
        names = [self.variables.get(tensor, NO_NAMES) for tensor in op.inputs[skipped:]]
        arguments = op.signature.inputs if op.signature else ()
        lists = [argument.dtype for argument in arguments if argument.is_list]
        attrs = {
            key: value for key, value in op.attrs.items() if key not in (*lists, OUTPUT_SHAPES)
        }
        if extra:
            attrs.pop("output_shapes", None)
            types = [self.current[name].dtype for name in extra]
            attrs["Tout"] = cast("AttrValue", [*cast("list", attrs.get("Tout") or []), *types])
        output_shapes = attrs.get("output_shapes")
        if (
            op.type in LOOPS
            and isinstance(output_shapes, list)
            and len(output_shapes) == len(inputs)
        ):
            known = [tensor.sizes for tensor in inputs]
            rows = zip(output_shapes, known, names, strict=True)
            attrs["output_shapes"] = [b if name else a for a, b, name in rows]
        for key, value in attrs.items():
            if isinstance(value, FunctionRef):
                attrs[key] = self._frozen_function(value, inputs, names, extra)
            elif isinstance(value, list) and value and isinstance(value[0], FunctionRef):
                attrs[key] = [
                    self._frozen_function(cast("FunctionRef", item), inputs, names, extra)
                    for item in value
                ]
        return attrs

    def _frozen_function(
        self,
        reference: FunctionRef,
        inputs: Sequence[Tensor],
        names: Sequence[frozenset[str]],
        extra: Sequence[str],
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
        freezer = _Freezer(body, handles, self.context, (*self.path, name))
        for i, tensor in enumerate(inputs):
            argument = freezer.add_input(i, "_Arg", {"T": tensor.dtype, "index": i})
            if names[i]:
                argument.set_shape(tensor.sizes)
        frozen = library.unique_name(f"{name}_frozen")
        graph = freezer.build()
        graph.outputs = [*(graph.outputs or ()), *(freezer.current[name] for name in extra)]
        library.add(Function.of(frozen, graph))
        return FunctionRef(frozen)

    def _producers(self, op: Operation) -> list[Operation]:
        producers = [
            tensor.op
            for tensor in op.inputs
            if tensor not in self.inputs and not is_back_edge(op.type, tensor.op.type)
        ]
        is_ordered = self.is_ordered or self.running is not self.needed
        return producers + op.control_inputs if is_ordered else producers

    def _refuse_saving_and_restoring(self) -> None:
        """Raises UnsupportedOps for both in one computation: their order would be lost."""
        readers = [op for op in self.needed if op.type in CHECKPOINT_READERS]
        if self.savers and readers:
            saver, reader = self.savers[0], readers[0]
            raise UnsupportedOps(
                f"{saver.type} '{saver.name}' and {reader.type} '{reader.name}' must not be in one "
                "signature, whose checkpoints have no order; save and restore in two"
            )

    def _refuse_placeholders(self, order: Iterable[Operation]) -> None:
        missing = [op.name for op in order if op.type in ("Placeholder", "PlaceholderV2")]
        if missing:
            raise PlaceholdersError(
                f"The outputs need the placeholders {some(missing)}, which are not among the "
                "inputs; add them to input_arrays, or make them constants before the graph is "
                "frozen"
            )
