"""A frozen TF graph lowered to the IR, operation by operation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...graph.core.custom import custom_options
from ...graph.core.library import COMPOSITE
from ...graph.core.order import data_inputs, ordered
from ...graph.core.signatures.attributes import FunctionRef
from ...graph.format.fold import fold
from ...graph.ops.state.tables import MUTABLE_TABLES
from ...schema.dtypes import VARIANT
from ...schema.errors import ConverterError
from ..ir.builder import Builder
from ..ir.graph import Graph, Origin, Signature
from ..ir.litert_rules import reason_against
from ..ir.sizes import Scope, lowered
from ..lowering import unsupported
from ..ophint.stubs import collapse
from ..targets import Target
from .complex import complex_lowering
from .flex import SelectOps, flex_outputs, is_flex, result_types
from .initializer import Initializer, assign, call_once, read
from .joined_lists import RAGGED, joined_lists
from .lists import UnevenElements
from .registry import LOWERINGS, Node

if TYPE_CHECKING:
    from ...graph.core import graph as tf
    from ..ir.graph import Op, Tensor
    from ..sources.source import GraphSource

HINTS = {
    "XlaCallModule": "A module of StableHLO within a branch or loop of TensorFlow: write "
    "the branch or loop in JAX, or export with jax2tf.convert(..., native_serialization=False).",
    **dict.fromkeys(
        MUTABLE_TABLES,
        "Tables that may change need contents: fill them before the model is saved, or use "
        "StaticHashTable.",
    ),
}
"""What to do about operations that no graph of builtins can have."""
CALLS = re.compile(
    r"^(?:.*/)?(?:(?:Stateful)?PartitionedCall(?:_\d+)?|then_branch|else_branch|branch_\d+)/(?=.)"
)
"""What inlining puts before a name: TensorFlow's converter has the name within the function."""
RARE_TYPES = tuple(map(np.dtype, ("float64", "complex64", "complex128")))
WITH_FLEX = Target("tf-2.14")
"""The runtime of Flex operators, TensorFlow's, as it was asked; LiteRT alone has more kernels."""


def lower_graph(
    source: GraphSource, allow_custom_ops: bool = False, select_ops: SelectOps | None = None
) -> Graph:
    """The IR of one computation of a source model.

    Operations that `select_ops` has and that have no lowering, or cannot be lowered as they are
    used here, become operators of TensorFlow's Flex delegate. With `allow_custom_ops`, operations
    without a lowering become custom operators, their attributes a FlexBuffer.

    Raises:
        UnsupportedOps: some operations have no lowering; all of them are listed.
        ConverterError: an operation cannot be lowered as it is used here.
    """
    select_ops = select_ops or SelectOps()
    work, joined = Work.of(source.graph), source.graph
    if any(op.type in RAGGED for op in work.operations):
        joined = joined_lists(source.graph)
        work = Work.of(joined)
    if not allow_custom_ops:
        missing = work.unsupported()
        refuse_unsupported(op for op in missing if not select_ops.has(op))
    try:
        graph = lowered(partial(_lower, source, work, select_ops))
    except UnevenElements:
        joined = joined_lists(source.graph)
        if joined is source.graph:
            raise
        graph = lowered(partial(_lower, source, Work.of(joined), select_ops))
    if joined is not source.graph:
        _forget_origins(graph, source.graph)
    return graph


def _forget_origins(graph: Graph, source: tf.Graph) -> None:
    """Leaves no tensor with the origin of one that the source does not have, or has as a list."""
    names = {t.name for op in source.operations for t in op.outputs if t.dtype != VARIANT}
    for called in graph.reachable():
        for tensor in called.tensors():
            if tensor.origin is not None and tensor.origin.name not in names:
                tensor.origin = None


def _lower(source: GraphSource, work: Work, select_ops: SelectOps, scope: Scope) -> Graph:
    """The IR of a source whose sizes are what `scope` assumes."""
    graph = Graph(source.key or "main", scope)
    scope.initializer, scope.select_ops = Initializer(source.state), select_ops
    b = Builder(graph)
    tensors: dict[tf.Tensor, Tensor] = {}
    for port, tensor in zip(source.inputs, work.inputs, strict=False):
        tensors[tensor] = b.input(port.name, tensor.dtype, tensor.sizes, port.dims)
    handles = []
    for variable, tensor in zip(
        source.state_variables, work.inputs[len(source.inputs) :], strict=True
    ):
        b.origin(tensor.op.name)
        handles.append(scope.initializer.variable(variable.name, b))
        value = source.state.variables[variable.name]
        tensors[tensor] = read(b, handles[-1], tensor.op.name, value)
    for tensor, result in work.lower(b, tensors):
        if result.origin is None and not result.is_constant:
            result.origin = Origin(tensor.name)
    results = [lowered_tensor(tensors, t) for t in work.outputs]
    n_outputs = len(source.outputs)
    graph.outputs = results[:n_outputs]
    is_written = [
        handle
        for variable, handle in zip(source.state_variables, handles, strict=True)
        if variable.is_written
    ]
    for handle, value in zip(is_written, results[n_outputs:], strict=True):
        assign(b, handle, value)
    if scope.initializer.is_used and source.state.initializer is not None:
        call_once(graph, source.state.initializer)
    graph.output_names = [port.name for port in source.outputs]
    if source.key is not None:
        names = (tuple(p.key for p in ports) for ports in (source.inputs, source.outputs))
        graph.signature = Signature(source.key, *names)
    return graph


def lowered_tensor(tensors: dict[tf.Tensor, Tensor], tensor: tf.Tensor) -> Tensor:
    """What a tensor becomes; ConverterError for a result that its lowering does not give."""
    if tensor not in tensors:
        raise ConverterError(
            f"{tensor.op.type} '{tensor.op.name}': its result '{tensor.name}' must not be used; no "
            "TFLite operator gives it"
        )
    return tensors[tensor]


class Work(NamedTuple):
    """A graph, or the body of a function, with what has to be lowered of it.

    Attributes:
        inputs, outputs: its tensors.
        operations: what the outputs need, in order, and what writes checkpoints.
    """

    inputs: list[tf.Tensor]
    outputs: list[tf.Tensor]
    operations: list[tf.Operation]

    @classmethod
    def of(cls, graph: tf.Graph) -> Work:
        """What has to be done of a frozen graph; functions that OpHints mark are operations."""
        folded = fold(collapse(graph))
        outputs = folded.outputs or []
        ends = [tensor.op for tensor in outputs] + folded.control_outputs
        needed = ordered(ends, data_inputs)
        return cls(folded.inputs or [], outputs, needed)

    def unsupported(self) -> Iterator[tf.Operation]:
        """The operations without a lowering, those of functions that are called included."""
        input_ops = {tensor.op for tensor in self.inputs}
        for op in self.operations:
            if op in input_ops or op.type == "Const" or COMPOSITE in op.attrs:
                continue
            if LOWERINGS.get(op.type) is None:
                yield op
                continue
            for reference in called_functions(op):
                yield from Work.of(op.graph.functions.body(reference)).unsupported()

    def lower(
        self, b: Builder, tensors: dict[tf.Tensor, Tensor]
    ) -> Iterator[tuple[tf.Tensor, Tensor]]:
        """Lowers all; `tensors` has the inputs, and takes what each becomes, which is given."""
        for op in self.operations:
            if op.outputs and all(t in tensors for t in op.outputs):
                continue
            b.origin(CALLS.sub("", op.name))
            results = lowered_outputs(op, b, tensors)
            for tensor, result in zip(op.outputs, results, strict=False):
                tensors[tensor] = result
                yield tensor, result


def called_functions(op: tf.Operation) -> list[FunctionRef]:
    """The functions among the attributes of an operation."""
    values = []
    for value in op.attrs.values():
        values += value if isinstance(value, list) else [value]
    return [item for item in values if isinstance(item, FunctionRef)]


def custom_outputs(op: tf.Operation, b: Builder, tensors: dict) -> tuple[Tensor, ...]:
    """The IR tensors of an operation that becomes a custom operator."""
    inputs = [lowered_tensor(tensors, tensor) for tensor in op.inputs]
    options = custom_options(op.attrs)
    return b.custom(op.type, *inputs, outputs=result_types(op), options=options)


def lowered_outputs(op: tf.Operation, b: Builder, tensors: dict) -> tuple:
    """The IR tensors of one operation's outputs."""
    if op.type == "Const":
        return (b.constant(op.get_attr("value"), name=CALLS.sub("", op.name)),)
    if COMPOSITE in op.attrs:
        return custom_outputs(op, b, tensors)
    lowering = complex_lowering(op) or LOWERINGS.get(op.type)
    select_ops = b.graph.scope.select_ops
    has_flex = select_ops is not None and select_ops.has(op)
    if lowering is None:  # and Flex or custom operators are allowed
        inputs = [lowered_tensor(tensors, t) for t in op.inputs]
        return flex_outputs(op, b, inputs) if has_flex else custom_outputs(op, b, tensors)
    node, n_before = Node(op, [lowered_tensor(tensors, t) for t in op.inputs]), len(b.graph.ops)
    can_fall_back = has_flex and not called_functions(op)
    try:
        with node.named():
            results = lowering(node, b)
    except ConverterError:
        if not can_fall_back:
            raise
        return flex_outputs(op, b, node.inputs)
    if can_fall_back and has_rare_type(op) and any(map(_against, b.graph.ops[n_before:])):
        for added in reversed(b.graph.ops[n_before:]):
            b.graph.remove(added)
        return flex_outputs(op, b, node.inputs)
    return tuple(results) if isinstance(results, tuple | list) else (results,)


def has_rare_type(op: tf.Operation) -> bool:
    """Whether an operation takes or gives numbers of which builtins compute hardly anything."""
    return any(tensor.dtype in RARE_TYPES for tensor in (*op.inputs, *op.outputs))


def _against(op: Op) -> str:
    """Why LiteRT, or TensorFlow's runtime with Flex, does not run an operator; empty if they do."""
    return reason_against(op) or WITH_FLEX.reason_against(op)


def refuse_unsupported(operations: Iterable[tf.Operation]) -> None:
    """Raises UnsupportedOps naming the types of operations without a lowering, each with a node."""
    missing: dict[str, list[str]] = {}
    has_no_flex = set()
    for op in operations:
        missing.setdefault(op.type, []).append(op.name)
        if not is_flex(op):
            has_no_flex.add(op.type)
    flex = ", or have them run by TensorFlow's own kernels (OpsSet.SELECT_TF_OPS, --select-tf-ops)"
    flex *= not has_no_flex
    hints = "".join(f"{hint}\n" for hint in dict.fromkeys(map(HINTS.get, missing)) if hint)
    unsupported.refuse(
        missing,
        f"{hints}Replace these layers, cut the graph before them with output_arrays, or set "
        f"allow_custom_ops (--allow-custom-ops) to write them as custom operators{flex}.",
        set(missing) - has_no_flex,
    )
