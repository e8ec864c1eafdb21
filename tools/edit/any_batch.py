"""Constants that hold the batch, rewritten so that a model takes any: one rule for an operator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from ...schema.flatbuffer import options_class
from ...schema.model import Model, Operator, Subgraph, Tensor
from ...schema.operators import operator
from ...schema.record import FieldValue
from ...schema.targets.versions import operator_version
from .batch_axes import BatchAxes, has_known_sizes
from .subgraphs import with_fields

INT32 = 2  # as SHAPE's option has it


def free_batch(model: Model, inputs: Sequence[int], n: int) -> list[int]:
    """Lets the operators of the first subgraph take any batch where constants say `n`, in place.

        RESHAPE(x, [1, 2, 3])            becomes    RESHAPE(x, [-1, 2, 3])
        TRANSPOSE_CONV([1, 8, 8, 4], x)  becomes    TRANSPOSE_CONV(SHAPE(x)[0] * ..., x)
        CONCATENATION(x, c)              becomes    CONCATENATION(x, BROADCAST_TO(c, ...))

    From the first operator on that refuses several batches in spite of that, all stays as it is.

    Args:
        model: any; inputs whose sizes it does not state count as it is written.
        inputs: tensors whose first size is the batch.
        n: that size.

    Returns the variables that keep something for each item, whose first size is `n` still.
    """
    graph = model.subgraphs[0]
    operators = list(graph.operators)
    batch = BatchAxes(model, inputs, n)
    changed: list[Operator] = []
    for position, op in enumerate(operators):
        rule = RULES.get(op.op) or (_broadcast if _broadcasts(op) else None)
        try:
            if rule is not None:
                batch.run()
            for new in [op] if rule is None else rule(batch, op):
                batch.add(new)
                changed.append(new)
        except ValueError:  # what is set next says which operator refuses which shapes
            changed += operators[position:]
            break
    graph.operators = changed
    return [i for i in batch.axes if graph.tensors[i].is_variable]


def free_images(graph: Subgraph) -> None:
    """Lets every transposed convolution of an image whose constant result has other sizes take
    any, in place.
    """
    operators = []
    for op in graph.operators:
        shape = graph.tensors[op.inputs[0]].data if op.op == "TRANSPOSE_CONV" else None
        if isinstance(shape, np.ndarray) and has_known_sizes(graph, op.inputs[2]):
            strides = (1, getattr(op.options, "stride_h", 1), getattr(op.options, "stride_w", 1), 0)
            before = np.array(graph.tensors[op.inputs[2]].shape)
            offsets = shape - before * strides
            added, op.inputs[0] = _sizes(graph, op.inputs[2], None, np.array(strides), offsets)
            operators += added
        operators.append(op)
    graph.operators = operators


def _reshape(batch: BatchAxes, op: Operator) -> list[Operator]:
    """-1 where the batch comes to lie."""
    graph, (x, result) = batch.graph, (op.inputs[0], op.outputs[0])
    new_shape = _constant_shape(batch, op)
    if new_shape is None or x not in batch.axes:
        return [op]
    axis, outer = _axis_after_reshape(batch, x, batch.shapes[result])
    if batch.n == 1 in batch.shapes[result] and (axis is None or batch.shapes[result][axis] > 1):
        return _placed(batch, x, result, batch.shapes[result].index(1))
    if axis is None:
        return [op]
    batch.outer[result] = outer
    if new_shape[axis] == -1 or (-1 in new_shape and not has_known_sizes(graph, result)):
        return [op]
    free = np.array(batch.shapes[result], np.int32)
    free[axis] = -1
    if op.options is not None and op.options.new_shape is not None:
        op.options = with_fields(op.options, {"new_shape": free})
    if len(op.inputs) > 1 and op.inputs[1] >= 0:
        batch.set_constant(op, 1, free)
    return [op]


def _constant_shape(batch: BatchAxes, op: Operator) -> list[int] | None:
    """The shape that a RESHAPE gives, None when it is computed."""
    if len(op.inputs) > 1 and op.inputs[1] >= 0:
        data = batch.constant(op, 1)
        return None if data is None else data.reshape(-1).tolist()
    new_shape = None if op.options is None else op.options.new_shape
    return None if new_shape is None else np.asarray(new_shape).tolist()


def _axis_after_reshape(batch: BatchAxes, x: int, shape: Sequence[int]) -> tuple[int | None, int]:
    """The axis of a reshaped tensor that has its batch, and what it counts more slowly.

    Elements keep their order, so it is one that covers them. Where several do, an axis of items
    alone comes first, then one that counts items most slowly; but neither the last one, which has
    the features, nor one that is behind the batch before, when another one covers it.
    """
    axis, n = batch.axes[x], batch.n
    sizes = batch.shapes[x]
    before = prod(sizes[:axis]) * batch.outer.get(x, 1)
    covering = []
    for i, size in enumerate(shape):
        slower = prod(shape[:i])
        if slower and before % slower == 0 and size % n == 0:
            outer = before // slower
            if (slower * size) % (before * n) == 0:
                covering.append((i, outer, size))
    behind = sizes[axis + 1] if axis + 1 < len(sizes) else 0
    alone = [c for c in covering if c[1] == 1 and c[2] == n]
    slowest = [c for c in covering if c[1] == 1 and c[2] != behind and c[0] < len(shape) - 1]
    best = next(iter(alone or slowest or covering[:1]), None)
    return (None, 1) if best is None else best[:2]


def _placed(batch: BatchAxes, x: int, result: int, axis: int) -> list[Operator]:
    """Operators that reshape each item of `x` and give a result with the items in another axis.

    A batch of one may be reshaped to anywhere; several are transposed, so that each keeps its own
    elements:

        x [5, n, 8] -> TRANSPOSE [n, 5, 8] -> RESHAPE [n, 40] -> result [n, 40]
        x [n, 40] -> RESHAPE [n, 5, 8] -> TRANSPOSE -> result [5, n, 8]
    """
    shape, x_axis, outer = batch.shapes[x], batch.axes[x], batch.outer.get(x, 1)
    before = [*shape[:x_axis], *([outer] if outer > 1 else [])]
    items = [n for n in (shape[x_axis] // outer,) if n > 1] + list(shape[x_axis + 1 :])
    target = batch.shapes[result]
    target_items = [*target[:axis], *target[axis + 1 :]]
    operators, last = [], x
    if before:
        operators.append(
            _reshaped(batch, x, _any_batch(batch, x, (*before, 1, *items)), len(before))
        )
        order = [len(before), *range(len(before)), *range(len(before) + 1, len(before + items) + 1)]
        last = _any_batch(batch, x, (1, *before, *items))
        operators.append(_transposed(batch, operators[-1].outputs[0], last, order))
    first = result if axis == 0 else _any_batch(batch, result, (1, *target_items))
    operators.append(_reshaped(batch, last, first, 0))
    if axis:
        order = [*range(1, axis + 1), 0, *range(axis + 1, len(target))]
        operators.append(_transposed(batch, first, result, order))
    batch.outer.update({i: 1 for op in operators for i in op.outputs})
    return operators


def _reshaped(batch: BatchAxes, x: int, result: int, axis: int) -> Operator:
    """The RESHAPE of a tensor to the shape of another one with the batch in an axis."""
    free = np.array(batch.shapes[result], np.int32)
    free[axis] = -1
    sizes = batch.new_constant(f"{batch.graph.tensors[result].name}/shape", free)
    return _operator(batch.graph, "RESHAPE", [x, sizes], result, new_shape=free)


def _transposed(batch: BatchAxes, x: int, result: int, order: list[int]) -> Operator:
    name = f"{batch.graph.tensors[result].name}/order"
    axes = batch.new_constant(name, np.array(order, np.int32))
    return _operator(batch.graph, "TRANSPOSE", [x, axes], result)


def _slice(batch: BatchAxes, op: Operator) -> list[Operator]:
    """Size -1, up to the end, where all items are taken."""
    begin, size = batch.constant(op, 1), batch.constant(op, 2)
    axis = batch.axes.get(op.inputs[0])
    if begin is None or size is None or axis is None:
        return [op]
    if begin[axis] == 0 and size[axis] == batch.shapes[op.inputs[0]][axis]:
        size = size.copy()
        size[axis] = -1
        batch.set_constant(op, 2, size)
    return [op]


def _strided_slice(batch: BatchAxes, op: Operator) -> list[Operator]:
    """A mask instead of an end where all items are taken."""
    begin, end, strides = (batch.constant(op, i) for i in (1, 2, 3))
    axis, options = batch.axes.get(op.inputs[0]), op.options
    if begin is None or end is None or strides is None or axis is None or options is None:
        return [op]
    bit = 1 << axis
    if options.ellipsis_mask or options.new_axis_mask or axis >= len(end):
        return [op]
    begins = begin[axis] == 0 or options.begin_mask & bit
    ends = end[axis] >= batch.shapes[op.inputs[0]][axis] and strides[axis] == 1
    if begins and ends and not options.shrink_axis_mask & bit:
        op.options = with_fields(options, {"end_mask": options.end_mask | bit})
    return [op]


def _sized_like(operand: int) -> Callable[[BatchAxes, Operator], list[Operator]]:
    """The rule of operators whose first operand is the shape of the result and that have the batch
    where operand number `operand` has it.
    """

    def rule(batch: BatchAxes, op: Operator) -> list[Operator]:
        shape, x = batch.constant(op, _shape_operand(op)), op.inputs[operand]
        if shape is None or x not in batch.axes:
            return [op]
        axis = batch.axes[x] + len(shape) - len(batch.shapes[x])
        if shape[axis] != batch.shapes[x][batch.axes[x]]:
            return [op]
        added, op.inputs[_shape_operand(op)] = _batch_sizes(batch, x, shape, axis)
        return [*added, op]

    return rule


def _shape_operand(op: Operator) -> int:
    return 1 if op.op == "BROADCAST_TO" else 0


def _random(batch: BatchAxes, op: Operator) -> list[Operator]:
    """Numbers for each item of the batch of an input, where there are some for each of one."""
    shape = batch.constant(op, 0)
    if shape is None or not shape.size or shape[0] != batch.shapes[batch.source][0]:
        return [op]
    added, op.inputs[0] = _batch_sizes(batch, batch.source, shape, 0)
    return [*added, op]


def _recurrent(batch: BatchAxes, op: Operator) -> list[Operator]:
    """States of as many items as the batch."""
    for i in op.inputs:
        if i >= 0 and batch.graph.tensors[i].is_variable and batch.shapes[i][:1] == (batch.n,):
            batch.axes[i] = 0
    return [op]


def _initial_states(batch: BatchAxes, op: Operator) -> list[Operator]:
    """What recurrent operators begin with, repeated for each item of the batch of an input."""
    states = [i for i in op.outputs if batch.graph.tensors[i].is_variable]
    operand = 1 if op.op == "SPLIT" else 0
    if not states or batch.constant(op, operand) is None or batch.shapes[states[0]][0] != batch.n:
        return [op]
    return [*_repeated(batch, op, operand, batch.source, 0), op]


def _joined(batch: BatchAxes, op: Operator) -> list[Operator]:
    """What is the same for all items is repeated for each where it is joined with what is not."""
    x = next((i for i in op.inputs if i in batch.axes), None)
    operands = op.inputs[:1] if op.op == "DYNAMIC_UPDATE_SLICE" else op.inputs
    if x is None:
        return [op]
    axis, added = batch.axes[x], []
    for position, i in enumerate(operands):
        if i not in batch.axes and batch.shapes[i][axis] == batch.shapes[x][axis]:
            added += _repeated(batch, op, position, x, axis)
    return [*added, op]


def _repeated(batch: BatchAxes, op: Operator, operand: int, x: int, axis: int) -> list[Operator]:
    """Operators that repeat an operand along an axis for each item of `x`; none where the operand
    is not the same for all.
    """
    before = op.inputs[operand]
    one = _one_item(batch, op, operand, axis)
    if one is None or not has_known_sizes(batch.graph, before):
        return []
    added, sizes = _batch_sizes(batch, x, np.array(batch.shapes[before], np.int32), axis)
    result = _any_batch(batch, before, batch.shapes[before])
    op.inputs[operand] = result
    return [*added, _operator(batch.graph, "BROADCAST_TO", [one, sizes], result)]


def _any_batch(batch: BatchAxes, i: int, shape: tuple[int, ...]) -> int:
    """A new tensor like `i`, of another shape for one batch."""
    before = batch.graph.tensors[i]
    name = f"{before.name}_any_batch"
    return batch.new_tensor(Tensor(name, shape, before.dtype, quantization=before.quantization))


def _broadcast(batch: BatchAxes, op: Operator) -> list[Operator]:
    """One item of a constant that has the same for all of them; an axis for the items of what
    has them in an axis that stands for another one in the others.
    """
    batched = [i for i in op.inputs if i in batch.axes]
    if not batched:
        return [op]
    added = []
    x = max(batched, key=lambda i: len(batch.shapes[i]))
    rank, from_end = len(batch.shapes[x]), batch.axes[x] - len(batch.shapes[x])
    for position, i in enumerate(op.inputs):
        shape = batch.shapes[i]
        if i in batch.axes and batch.axes[i] - len(shape) != from_end and len(shape) < rank:
            aligned = (1,) * (rank - len(shape)) + shape
            if aligned[from_end] == 1:
                result = _any_batch(batch, i, aligned)
                added += _placed(batch, i, result, rank + from_end)
                op.inputs[position] = result
        elif i not in batch.axes and -from_end <= len(shape) and shape[from_end] == batch.n > 1:
            one = _one_item(batch, op, position, from_end + len(shape))
            op.inputs[position] = i if one is None else one
    return [*added, op]


def _broadcasts(op: Operator) -> bool:
    row = operator(op.op)
    return row is not None and row.has("broadcast")


def _one_item(batch: BatchAxes, op: Operator, operand: int, axis: int) -> int | None:
    """The tensor of one item of an operand that is the same for all; None where it is not."""
    if batch.n == 1:
        return op.inputs[operand]
    data = batch.constant(op, operand)
    if data is None or data.ndim <= axis:
        return None
    first = data.take([0], axis)
    if not (data == first).all():
        return None
    before = batch.graph.tensors[op.inputs[operand]]
    return batch.new_tensor(
        Tensor(
            f"{before.name}_one", first.shape, before.dtype, first, quantization=before.quantization
        )
    )


def _batch_sizes(
    batch: BatchAxes, x: int, shape: np.ndarray, axis: int
) -> tuple[list[Operator], int]:
    """Operators that compute a shape whose `axis` has the size that counts items of `x`."""
    factors, offsets = np.zeros_like(shape), shape.copy()
    x_axis = batch.axes[x]
    factors[axis], offsets[axis] = 1, 0
    added, sizes = _sizes(batch.graph, x, x_axis, factors, offsets)
    for op in added:
        batch.shapes.update({i: batch.graph.tensors[i].shape for i in (*op.inputs, *op.outputs)})
    return added, sizes


def _sizes(
    graph: Subgraph, x: int, axis: int | None, factors: np.ndarray, offsets: np.ndarray
) -> tuple[list[Operator], int]:
    """Operators that compute the sizes of `x`, or of one axis, times factors plus offsets."""
    name = f"{graph.tensors[x].name}_sizes"

    def new(suffix: str, n: int, data: np.ndarray | None = None) -> int:
        graph.tensors.append(Tensor(f"{name}/{suffix}", (n,), "INT32", data))
        return len(graph.tensors) - 1

    def constant(suffix: str, values: Sequence[int] | np.ndarray) -> int:
        return new(suffix, len(values), np.array(values, np.int32))

    rank, n = len(graph.tensors[x].shape), len(offsets)
    sizes = new("shape", rank)
    operators = [_operator(graph, "SHAPE", [x], sizes, out_type=INT32)]
    if axis is not None:
        bounds = [constant(*row) for row in (("begin", [axis]), ("end", [axis + 1]), ("step", [1]))]
        size = new("size", 1)
        operators.append(_operator(graph, "STRIDED_SLICE", [sizes, *bounds], size))
        sizes = size
    if (factors != 1).any() or len(factors) != rank:
        product = new("product", n)
        operators.append(_operator(graph, "MUL", [sizes, constant("factors", factors)], product))
        sizes = product
    if offsets.any():
        total = new("sum", n)
        operators.append(_operator(graph, "ADD", [sizes, constant("offsets", offsets)], total))
        sizes = total
    return operators, sizes


def _operator(
    graph: Subgraph, kind: str, inputs: list[int], output: int, **fields: FieldValue
) -> Operator:
    cls = options_class(kind)
    options = None if cls is None else cls(**fields)
    tensors = [graph.tensors[i] for i in inputs]
    version = operator_version(kind, options, tensors, [graph.tensors[output]])
    return Operator(kind, inputs, [output], options, version)


RULES: dict[str, Callable[[BatchAxes, Operator], list[Operator]]] = {
    "BIDIRECTIONAL_SEQUENCE_LSTM": _recurrent,
    "BIDIRECTIONAL_SEQUENCE_RNN": _recurrent,
    "BROADCAST_TO": _sized_like(0),
    "CONCATENATION": _joined,
    "CONV_3D_TRANSPOSE": _sized_like(2),
    "DYNAMIC_UPDATE_SLICE": _joined,
    "PACK": _joined,
    "RANDOM_STANDARD_NORMAL": _random,
    "RANDOM_UNIFORM": _random,
    "RESHAPE": _reshape,
    "RNN": _recurrent,
    "SLICE": _slice,
    "SPLIT": _initial_states,
    "STRIDED_SLICE": _strided_slice,
    "SVDF": _recurrent,
    "TRANSPOSE_CONV": _sized_like(2),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": _recurrent,
    "UNIDIRECTIONAL_SEQUENCE_RNN": _recurrent,
}
"""Operator -> what takes its place so that any batch is taken: itself, changed, or several."""
