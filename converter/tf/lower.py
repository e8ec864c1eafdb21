"""A frozen TF graph lowered to the IR, operation by operation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, NoReturn

from ...graph.custom import custom_options
from ...graph.fold import fold
from ...graph.order import data_inputs, ordered
from ...graph.registry import is_pure
from ...schema.errors import ConverterError, UnsupportedOps
from ..builder import Builder
from ..ir import Graph, Origin, Signature
from ..stubs import collapse
from .composites import Composite, recognise
from .registry import Node, lowering_of

if TYPE_CHECKING:
    from ...graph import graph as tf
    from ..ir import Tensor
    from ..sources.source import GraphSource

CALLS = re.compile(r"^(?:(?:Stateful)?PartitionedCall(?:_\d+)?/)+(?=.)")  # around user's names
SHOWN = 8  # unsupported operation types named one by one, so that the message stays short


def lower_graph(source: GraphSource, allow_custom_ops: bool = False) -> Graph:
    """The IR of one computation of a source model.

    With `allow_custom_ops`, operations without a lowering become custom operators, their attributes
    a FlexBuffer.

    Raises:
        UnsupportedOps: some operations have no lowering; all of them are listed.
        ConverterError: an operation cannot be lowered as it is used here.
    """
    folded = fold(collapse(source.graph))
    composites = recognise(folded)

    def before(op: tf.Operation) -> list[tf.Operation]:
        return (
            [tensor.op for tensor in composites[op].inputs] if op in composites else data_inputs(op)
        )

    inputs, outputs = folded.inputs or [], folded.outputs or []
    needed = ordered([tensor.op for tensor in outputs], before)
    missing = without_lowering([op for op in needed if op not in composites], inputs)
    if missing and not allow_custom_ops:
        refuse(missing)
    graph = Graph(source.key or "main")
    b = Builder(graph)
    tensors: dict[tf.Tensor, Tensor] = {}
    for port, tensor in zip(source.inputs, inputs, strict=True):
        tensors[tensor] = b.input(port.name, tensor.dtype, tensor.shape)
    for op in needed:
        if op.outputs and all(t in tensors for t in op.outputs):
            continue
        b.origin(CALLS.sub("", op.name))
        if op in missing:
            results = custom_outputs(op, b, tensors)
        else:
            results = lowered_outputs(op, composites.get(op), b, tensors)
        for tensor, lowered in zip(op.outputs, results, strict=False):
            tensors[tensor] = lowered
            if lowered.origin is None and not lowered.is_constant:
                lowered.origin = Origin(tensor.name)
    graph.outputs = [tensors[t] for t in outputs]
    graph.output_names = [port.name for port in source.outputs]
    if source.key is not None:
        names = (tuple(p.key for p in ports) for ports in (source.inputs, source.outputs))
        graph.signature = Signature(source.key, *names)
    return graph


def custom_outputs(op: tf.Operation, b: Builder, tensors: dict) -> tuple:
    """The IR tensors of an operation that becomes a custom operator."""
    outputs = []
    for tensor in op.outputs:
        if tensor.dtype is None or tensor.shape is None:
            raise ConverterError(
                f"{op.type} '{op.name}': type and rank of its results must be known to write a "
                "custom operator; note them in the attributes _output_types and _output_shapes"
            )
        outputs.append((tensor.dtype, tensor.shape))
    inputs = [tensors[tensor] for tensor in op.inputs]
    return b.custom(op.type, *inputs, outputs=outputs, options=custom_options(op.attrs))


def lowered_outputs(
    op: tf.Operation, composite: Composite | None, b: Builder, tensors: dict
) -> tuple:
    """The IR tensors of one operation's outputs."""
    if composite is not None:
        return (b.op(composite.kind, *(tensors[t] for t in composite.inputs)),)
    if op.type == "Const":
        return (b.constant(op.get_attr("value"), name=op.name),)
    node = Node(op, [tensors[t] for t in op.inputs])
    lowering = lowering_of(op.type)
    if lowering is None:  # without_lowering has looked
        raise LookupError(f"no lowering is registered for {op.type}")
    results = lowering(node, b)
    return tuple(results) if isinstance(results, tuple | list) else (results,)


def without_lowering(
    operations: list[tf.Operation], fed: list[tf.Tensor]
) -> dict[tf.Operation, None]:
    """The operations that no lowering is registered for, in order."""
    inputs = {tensor.op for tensor in fed}
    known = (op.type == "Const" or op in inputs or lowering_of(op.type) for op in operations)
    return {op: None for op, one in zip(operations, known, strict=True) if not one}


def refuse(operations: Iterable[tf.Operation]) -> NoReturn:
    """Raises UnsupportedOps naming the type of every operation, each with a node."""
    missing: dict[str, list[str]] = {}
    for op in operations:
        missing.setdefault(op.type, []).append(op.name)
    counts = Counter({type_: len(names) for type_, names in missing.items()})
    lines = [
        f"  {type_} x {n}, first at node '{missing[type_][0]}'"
        + ("" if is_pure(type_) else " (not a pure operation)")
        for type_, n in counts.most_common(SHOWN)
    ]
    rest = sorted(set(missing) - {type_ for type_, _ in counts.most_common(SHOWN)})
    if rest:
        lines.append(f"  and {len(rest)} more types: " + ", ".join(rest))
    raise UnsupportedOps(
        "Some ops are not supported by the native TFLite runtime and have no lowering:\n"
        + "\n".join(lines)
        + "\nReplace these layers, cut the graph before them with output_arrays, or set "
        "allow_custom_ops to write them as custom operators."
    )
