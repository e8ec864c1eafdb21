"""Operators that TFLite lacks, or LiteRT has no right kernel for, in terms of others: last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import numpy as np

from ..ir.builder import Builder
from ..ir.dims import never_zero
from ..ir.graph import Graph, Op, Tensor
from ..ir.integers import integer_formula
from ..ir.legal_types import has_kernel, widened
from ..lowering import formulas
from ..lowering.moves import like, may_be_empty
from .divide import floor_divide, truncated_divide
from .driver import rewrite
from .rewrite import builder, constant_of, options_of, same_shape
from .sequences import write_lstm, write_rnn

Rule = Callable[[Op, Builder], "list[Tensor] | None"]
MAX_RANK_OF_BLOCKS = 4


@rewrite()
def replace_operators(graph: Graph, op: Op) -> bool:
    """Writes pseudo-operators, and ops that LiteRT cannot run or runs wrongly, as others.

        x: int64 -> ADD_N(y, z) -> w      becomes      x -> ADD(y) -> ADD(z) -> w

    Holds off where LiteRT runs the op as it is, and where RULES has nothing for it.
    """
    rule = RULES.get(op.kind)
    results = None if rule is None else rule(op, builder(graph, op))
    if results is not None:
        swap_results(graph, op, results)
        return True
    return False


def widen_types(graph: Graph) -> int:
    """Writes ops in types that LiteRT has kernels for.

        x: bool -> PACK -> y      becomes      x -> CAST -> PACK -> CAST -> y

    Holds off where it has them, and where no type that holds the same values is among them; of
    integers some operators are others (integers.py).
    """
    count = 0
    wider_forms: dict[Tensor, Tensor] = {}
    known: set[Op] = set()
    while ops := [op for op in graph.ops if op not in known]:  # those of a formula may lack one
        known.update(ops)
        count += _widen(graph, ops, wider_forms)
    return count


def _widen(graph: Graph, ops: Sequence[Op], wider_forms: dict[Tensor, Tensor]) -> int:
    """As `widen_types`, for some operators of a graph."""
    count = 0
    for op in ops:
        if op.kind == "CUSTOM" or op.graphs or has_kernel(op):
            continue
        b, dtypes = builder(graph, op), [tensor.dtype for tensor in op.outputs]
        options = {"n_outputs": len(dtypes), **options_of(op)}
        results = widened(b, op.kind, op.inputs, dtypes, wider_forms, **options)
        if results is None and (integers := integer_formula(b, op.kind, op.inputs)) is not None:
            results = [integers]
        if results is not None:
            swap_results(graph, op, results)
            count += 1
    return count


def swap_results(graph: Graph, op: Op, results: Sequence[Tensor]) -> None:
    """Lets `results` stand for those of `op`, to which they are equal, and removes `op`."""
    for old, new in zip(op.outputs, results, strict=True):
        if new.producer is not None and new.origin is None:
            new.origin, new.name = old.origin, old.name
            new.sizes = old.sizes  # data-dependent ones are the same, which no name of theirs tells
        graph.replace(old, new)
    graph.remove(op)


def _add_n(op: Op, b: Builder) -> list[Tensor] | None:
    """One ADD after the other; there are more types for it."""
    return None if has_kernel(op) else [reduce(b.ADD, op.inputs)]


def _unpack(op: Op, b: Builder) -> list[Tensor] | None:
    """A STRIDED_SLICE for each part, of what may be empty, too, which LiteRT does not unpack."""
    x = op.inputs[0]
    if (has_kernel(op) and not may_be_empty(x)) or x.rank is None:
        return None
    axis = op.options.axis % x.rank
    other_axes = ((1 << x.rank) - 1) & ~(1 << axis)
    parts = []
    for i in range(op.options.num):
        begin = np.zeros(x.rank, np.int32)
        begin[axis] = i
        slice_bounds = (begin, begin + 1, np.ones_like(begin))
        masks = {"begin_mask": other_axes, "end_mask": other_axes, "shrink_axis_mask": 1 << axis}
        parts.append(b.STRIDED_SLICE(x, *slice_bounds, **masks))
    return parts


def _divide(divide: Callable) -> Rule:
    """Of int64, and of uint32 by way of it."""

    def rule(op: Op, b: Builder) -> list[Tensor] | None:
        if has_kernel(op) or op.output.dtype not in (np.int64, np.uint32):
            return None
        if op.output.dtype == np.int64:
            return [divide(b, *op.inputs)]
        x, y = (b.CAST(tensor, dtype=np.int64) for tensor in op.inputs)
        return [b.CAST(divide(b, x, y), dtype=np.uint32)]

    return rule


def _place_of(reduction: str) -> Rule:
    """Of int64: the first element that is equal to the largest or smallest one."""

    def rule(op: Op, b: Builder) -> list[Tensor] | None:
        x, axis = op.inputs[0], constant_of(op.inputs[1])
        if has_kernel(op) or x.dtype != np.int64 or axis is None:
            return None
        extreme = b.op(reduction, x, axis.reshape(1).astype(np.int32), keep_dims=True)
        return [
            b.ARG_MAX(b.EQUAL(x, extreme), op.inputs[1], dtype=op.output.dtype, **options_of(op))
        ]

    return rule


def _gather(op: Op, b: Builder) -> list[Tensor] | None:
    """GATHER_ND for slices of strings: LiteRT's GATHER takes one string at a time."""
    x, indices = op.inputs
    if x.dtype != object or x.rank in (None, 1) or op.options.axis or op.options.batch_dims:
        return None
    return [b.GATHER_ND(x, b.EXPAND_DIMS(indices, np.asarray(-1, np.int32)))]


def _reverse(op: Op, b: Builder) -> list[Tensor] | None:
    """Axes that are not neighbours, in groups that are: LiteRT reverses all between them, too."""
    x, axes = op.inputs[0], constant_of(op.inputs[1])
    if axes is None or x.rank is None:
        return None
    axes = np.unique(axes % x.rank)
    groups = np.split(axes, np.flatnonzero(np.diff(axes) > 1) + 1)
    if len(groups) == 1:
        return None
    return [reduce(lambda y, group: b.REVERSE_V2(y, group.astype(np.int32)), groups, x)]


def _atan2(op: Op, b: Builder) -> list[Tensor] | None:
    """Operands of one shape: LiteRT reads past the end of one that it would have to repeat."""
    if same_shape(*op.inputs):
        return None
    shape = op.output.shape
    if shape is not None and None not in shape:
        target = b.constant(np.asarray(shape, np.int32))
    else:
        target = b.BROADCAST_ARGS(*(b.SHAPE(tensor) for tensor in op.inputs))
    return [b.ATAN2(*(_repeated(b, tensor, shape, target) for tensor in op.inputs))]


def _repeated(b: Builder, x: Tensor, shape: tuple | None, target: Tensor) -> Tensor:
    if shape is not None and None not in shape:
        if x.shape == shape:
            return x
        if x.is_constant:
            return b.constant(np.broadcast_to(x.data, shape))
    return b.BROADCAST_TO(x, target)


def _segment_sum(op: Op, b: Builder) -> list[Tensor] | None:
    """Segments of any number: LiteRT counts those that occur, not those before the last."""
    ids = op.inputs[1]
    known_ids = constant_of(ids)
    if known_ids is not None:
        if np.array_equal(np.unique(known_ids), np.arange(np.max(known_ids, initial=-1) + 1)):
            return None
        n = b.constant(np.asarray(np.max(known_ids) + 1, np.int32))
    else:
        n = b.ADD(b.REDUCE_MAX(ids, np.zeros(1, np.int32)), np.asarray(1, ids.dtype))
        # the largest of none is the least there is
        if not ids.sizes or not never_zero(ids.sizes[0]):
            n = b.MAXIMUM(n, np.asarray(0, ids.dtype))
    return [b.UNSORTED_SEGMENT_SUM(*op.inputs, n)]


def _unsorted_segments(kind: str, start: Callable[[np.dtype], int]) -> Rule:
    """Of int64, which LiteRT does not have: for each segment all rows, `start` for those of others.

    Args:
        kind: the operator that combines rows.
        start: what changes nothing of a type.
    """

    def rule(op: Op, b: Builder) -> list[Tensor] | None:
        x, ids, count = op.inputs
        if has_kernel(op) or x.dtype != np.int64 or x.rank is None or ids.rank != 1:
            return None
        segments = b.RANGE(like(count, 0, b), count, like(count, 1, b))
        segments = b.EXPAND_DIMS(segments, np.int32(1))
        if ids.dtype != count.dtype:
            segments = b.CAST(segments, dtype=ids.dtype)
        is_in = b.EQUAL(segments, b.EXPAND_DIMS(ids, np.int32(0)))
        for _ in range(x.rank - 1):
            is_in = b.EXPAND_DIMS(is_in, np.int32(-1))
        rows = b.SELECT_V2(is_in, b.EXPAND_DIMS(x, np.int32(0)), like(x, start(x.dtype), b))
        return [b.op(kind, rows, np.ones(1, np.int32), keep_dims=False)]

    return rule


def _space_to_batch(op: Op, b: Builder) -> list[Tensor] | None:
    """Padding, and blocks moved by TRANSPOSE, where LiteRT has too few dimensions.

    [n, h, w, c] is reshaped to [n, h/p, p, w/q, q, c] and becomes [p, q, n, h/p, w/q, c].
    """
    x, blocks, paddings = op.inputs[0], constant_of(op.inputs[1]), constant_of(op.inputs[2])
    if x.rank is None or x.rank <= MAX_RANK_OF_BLOCKS or blocks is None or paddings is None:
        return None
    m = len(blocks)
    amounts = np.zeros((x.rank, 2), np.int32)
    amounts[1 : m + 1] = paddings
    padded = b.PAD(x, amounts) if amounts.any() else x
    sizes = list(padded.dims)
    if None in sizes[1:]:
        return None
    batch = -1 if sizes[0] is None else sizes[0]
    blocked_shape = [batch]
    for size, block in zip(sizes[1 : m + 1], blocks, strict=True):
        blocked_shape += [size // block, block]
    blocked = b.RESHAPE(padded, np.asarray([*blocked_shape, *sizes[m + 1 :]], np.int32))
    inner, outer = range(2, 2 * m + 1, 2), range(1, 2 * m + 1, 2)
    order = [*inner, 0, *outer, *range(2 * m + 1, 2 * m + 1 + len(sizes) - m - 1)]
    moved = b.TRANSPOSE(blocked, np.asarray(order, np.int32))
    shape = [-1, *(blocked_shape[i] for i in outer), *sizes[m + 1 :]]
    return [b.RESHAPE(moved, np.asarray(shape, np.int32))]


def _batch_to_space(op: Op, b: Builder) -> list[Tensor] | None:
    """The way back, then cropped by SLICE.

    [p * q * n, h, w, c] is reshaped to [p, q, n, h, w, c] and becomes [n, h * p, w * q, c].
    """
    x, blocks, crops = op.inputs[0], constant_of(op.inputs[1]), constant_of(op.inputs[2])
    if x.rank is None or x.rank <= MAX_RANK_OF_BLOCKS or blocks is None or crops is None:
        return None
    m, sizes = len(blocks), list(x.dims)
    if None in sizes[1:]:
        return None
    blocked = b.RESHAPE(x, np.asarray([*blocks, -1, *sizes[1:]], np.int32))
    order = [m]
    for i in range(m):
        order += [m + 1 + i, i]
    moved = b.TRANSPOSE(blocked, np.asarray([*order, *range(2 * m + 1, m + len(sizes))], np.int32))
    uncropped = [size * block for size, block in zip(sizes[1 : m + 1], blocks, strict=True)]
    merged = b.RESHAPE(moved, np.asarray([-1, *uncropped, *sizes[m + 1 :]], np.int32))
    if not crops.any():
        return [merged]
    begin, size = np.zeros(x.rank, np.int32), np.full(x.rank, -1, np.int32)
    begin[1 : m + 1] = crops[:, 0]
    size[1 : m + 1] = np.asarray(uncropped) - crops.sum(1)
    return [b.SLICE(merged, begin, size)]


def _erf(op: Op, b: Builder) -> list[Tensor]:
    return [formulas.erf(b, op.inputs[0])]


def _softplus(op: Op, b: Builder) -> list[Tensor]:
    """As TensorFlow's converter writes it: infinite above 88."""
    (x,) = op.inputs
    return [b.LOG(b.ADD(b.EXP(x), like(x, 1, b)))]


def _layer_norm(op: Op, b: Builder) -> list[Tensor]:
    y, _, _ = formulas.standardized(b, *op.inputs)
    return [y]


RULES: dict[str, Rule] = {
    "ADD_N": _add_n,
    "ARG_MAX": _place_of("REDUCE_MAX"),
    "ARG_MIN": _place_of("REDUCE_MIN"),
    "ATAN2": _atan2,
    "BATCH_TO_SPACE_ND": _batch_to_space,
    "DIV": _divide(truncated_divide),
    "ERF": _erf,
    "FLOOR_DIV": _divide(floor_divide),
    "GATHER": _gather,
    "LAYER_NORM": _layer_norm,
    "LSTM_SEQUENCE": write_lstm,
    "REVERSE_V2": _reverse,
    "RNN_SEQUENCE": write_rnn,
    "SEGMENT_SUM": _segment_sum,
    "SOFTPLUS": _softplus,
    "SPACE_TO_BATCH_ND": _space_to_batch,
    "UNPACK": _unpack,
    "UNSORTED_SEGMENT_MAX": _unsorted_segments("REDUCE_MAX", lambda t: int(np.iinfo(t).min)),
    "UNSORTED_SEGMENT_MIN": _unsorted_segments("REDUCE_MIN", lambda t: int(np.iinfo(t).max)),
    "UNSORTED_SEGMENT_PROD": _unsorted_segments("REDUCE_PROD", lambda t: 1),
    "UNSORTED_SEGMENT_SUM": _unsorted_segments("SUM", lambda t: 0),
}
"""Operators that other operators stand for; wider types come after, where these hold off."""
