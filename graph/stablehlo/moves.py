"""StableHLO's operations that make, move and cut tensors."""

from __future__ import annotations

import numpy as np

from ...schema.errors import ConverterError, ModelError
from ...schema.mlir.module import Operation
from ..core.graph import Tensor
from .attributes import (
    array,
    enumerated,
    fields,
    function_name,
    number,
    numbers,
    regions,
    text,
    whole,
)
from .control import dynamic_reduce_window
from .expansions import FUNCTIONS, Known
from .linear_algebra import LAPACK
from .registry import Results, Write, writes
from .shapes import dtype_at, known_shape_at, shape_at
from .writer import Writer, broadcast_axes

MAX_POSITIONS = 1 << 20


@writes("constant")
def constant(op: Operation, w: Writer) -> Tensor:
    """A constant."""
    return w.constant(array(op, "value"))


@writes("iota", "dynamic_iota")
def iota(op: Operation, w: Writer) -> Tensor:
    """Positions along one dimension."""
    axis, result = number(op, "iota_dimension"), op.results[0]
    sizes, dtype = shape_at(result), dtype_at(result)
    w.positions[result] = axis
    shape = [-1 if i == axis else 1 for i in range(len(sizes))]
    size = sizes[axis]
    if size is not None and size <= MAX_POSITIONS:
        line = w.constant(np.arange(size).astype(dtype).reshape(shape))
    else:
        count = w.add("GatherV2", w.int32(w.value(op.operands[0])), *_at(axis, w))
        line = w.add("Range", w.constant(0, np.int32), count, w.constant(1, np.int32))
        line = w.reshape(w.add("Cast", line, DstT=dtype), shape)
    if len(sizes) == 1:
        return line
    w.narrow[result] = line
    return w.add("BroadcastTo", line, _target(op, 0, w))


def _target(op: Operation, i: int, w: Writer) -> Tensor:
    """The shape of the result: an operand where there is one, else as the module declares it."""
    if len(op.operands) > i:
        return w.int32(w.value(op.operands[i]))
    return w.constant(known_shape_at(op.results[0]), np.int32)


def _at(axis: int, w: Writer) -> tuple[Tensor, Tensor]:
    return w.constant(axis, np.int32), w.constant(0, np.int32)


@writes("broadcast_in_dim", "dynamic_broadcast_in_dim")
def broadcast_in_dim(op: Operation, w: Writer) -> Tensor:
    """A tensor with more dimensions, or larger ones."""
    result = op.results[0]
    x = broadcast_axes(op, w.value(op.operands[0]), w)
    source = w.narrow.get(op.operands[0])
    if source is not None and source.sizes is not None and None not in source.sizes:
        w.narrow[result] = source if not source.sizes else x
    else:
        w.narrow[result] = x
    sizes = shape_at(result)
    if len(op.operands) == 1 and x.sizes == sizes:
        return x
    return w.add("BroadcastTo", x, _target(op, 1, w))


@writes("reshape", "dynamic_reshape")
def reshape(op: Operation, w: Writer) -> Tensor:
    """A tensor in another shape."""
    x, sizes = w.value(op.operands[0]), shape_at(op.results[0])
    if op.operands[1:] and sizes.count(None) > 1:
        return w.add("Reshape", x, w.int32(w.value(op.operands[1])))
    return w.reshape(x, [-1 if n is None else n for n in sizes])


@writes("transpose")
def transpose(op: Operation, w: Writer) -> Tensor:
    """A tensor with its dimensions in another order."""
    order = w.constant(numbers(op, "permutation"), np.int32)
    return w.add("Transpose", w.value(op.operands[0]), order)


@writes("concatenate")
def concatenate(op: Operation, w: Writer) -> Tensor:
    """Tensors one after another."""
    operands = w.operands(op)
    axis = w.constant(number(op, "dimension"), np.int32)
    return w.add("ConcatV2", *operands, axis) if len(operands) > 1 else operands[0]


@writes("slice")
def slice_(op: Operation, w: Writer) -> Tensor:
    """A part of a tensor."""
    parts = [numbers(op, name) for name in ("start_indices", "limit_indices", "strides")]
    return w.add("StridedSlice", w.value(op.operands[0]), *(w.constant(x, np.int32) for x in parts))


@writes("real_dynamic_slice")
def real_dynamic_slice(op: Operation, w: Writer) -> Tensor:
    """A part of a tensor between computed places."""
    x, *parts = w.operands(op)
    return w.add("StridedSlice", x, *(w.int32(t) for t in parts))


@writes("dynamic_slice", "dynamic_update_slice")
def dynamic_slice(op: Operation, w: Writer) -> Tensor:
    """A part of a tensor, or the tensor with a part replaced, at a place that lies within."""
    count = 1 if op.name == "dynamic_slice" else 2
    operands = w.operands(op)
    starts = [w.int32(t) for t in operands[count:]]
    if not starts:
        return operands[count - 1]
    corner = w.add("Pack", *starts, axis=0, N=len(starts))
    if count == 2:
        return w.add("XlaDynamicUpdateSlice", *operands[:2], corner)
    sizes = w.constant(numbers(op, "slice_sizes"), np.int32)
    return w.add("XlaDynamicSlice", operands[0], corner, sizes)


@writes("pad", "dynamic_pad")
def pad(op: Operation, w: Writer) -> Tensor:
    """Values around a tensor and between its elements."""
    x, value, *parts = w.operands(op)
    if not parts:
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        parts = [w.constant(numbers(op, name), np.int32) for name in names]
    return w.add("XlaPad", x, value, *(w.int32(t) for t in parts))


@writes("reverse")
def reverse(op: Operation, w: Writer) -> Tensor:
    """A tensor backwards along dimensions."""
    return w.add(
        "ReverseV2", w.value(op.operands[0]), w.constant(numbers(op, "dimensions"), np.int32)
    )


@writes("get_dimension_size")
def get_dimension_size(op: Operation, w: Writer) -> Tensor:
    """One size of a tensor."""
    axis = number(op, "dimension")
    shape = w.shape(op.operands[0])
    one = [w.constant([n], np.int32) for n in (axis, axis + 1, 1)]
    return w.add("StridedSlice", shape, *one, shrink_axis_mask=1)


@writes("partition_id", "replica_id")
def replica_id(op: Operation, w: Writer) -> Tensor:
    """0: the only one."""
    return w.constant(0, dtype_at(op.results[0]))


@writes("custom_call")
def custom_call(op: Operation, w: Writer) -> Results:
    """Calls that say something to a compiler, or what TF has an operation for."""
    target, operands = text(op, "call_target_name"), op.operands
    if target in ("shape_assertion", "annotate_device_placement") and not op.results:
        return ()
    if target in ("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape"):
        return w.operands(op)
    if target in CALLS:
        return CALLS[target](op, w)
    if (known := _known(target)) is not None:
        return w.add(known.kind, w.value(operands[0]))
    raise ConverterError(
        f"stablehlo.custom_call '{w.name}': the call of '{target}' runs code of another program; "
        "export the model without it"
    )


def _top_k(op: Operation, w: Writer) -> list[Tensor]:
    """The largest elements along the last dimension, and where they are."""
    k = shape_at(op.results[0])[-1]
    if k is None:
        raise ModelError(f"{op}: the size of its last dimension must be known")
    return w.add_all("TopKV2", w.value(op.operands[0]), w.constant(k, np.int32))


def _approximate_top_k(op: Operation, w: Writer) -> list[Tensor]:
    """The largest or smallest elements along a dimension: exactly, which any recall allows."""
    config = fields(op, "mhlo.backend_config")
    axis, k = (whole(op, name, config[name]) for name in ("reduction_dim", "top_k"))
    rank = len(shape_at(op.operands[0]))
    comparator = function_name(op)
    directions = {
        enumerated(inner, "comparison_direction")
        for inner in regions(w.module.functions[comparator])[0].operations
        if inner.name == "compare"
    }
    if not config["aggregate_to_topk"] or len(op.operands) != 4 or directions not in ({3}, {5}):
        raise ConverterError(f"{op}: must give the largest or smallest elements alone")
    x = w.value(op.operands[0])
    order = w.constant([*(i for i in range(rank) if i != axis), axis], np.int32)
    x = w.add("Transpose", x if directions == {3} else w.add("Neg", x), order)
    values, indices = w.add_all("TopKV2", x, w.constant(k, np.int32))
    back = w.constant(np.argsort(order.op.get_attr("value")), np.int32)
    values, indices = (w.add("Transpose", t, back) for t in (values, indices))
    return [values if directions == {3} else w.add("Neg", values), indices]


CALLS: dict[str, Write] = {
    **LAPACK,
    "ApproxTopK": _approximate_top_k,
    "mhlo.topk": _top_k,
    "stablehlo.dynamic_reduce_window": dynamic_reduce_window,
    "stablehlo.dynamic_top_k": _top_k,
}
"""Names of custom calls -> what writes them."""


def _known(name: str) -> Known | None:
    """What a name of CHLO or MHLO means; None of other names."""
    dialect, _, function = name.partition(".")
    return FUNCTIONS.get(function) if dialect in ("chlo", "mhlo") else None


@writes("composite")
def composite(op: Operation, w: Writer) -> Results:
    """What a name of CHLO means, else the function that computes it."""
    name = text(op, "name")
    if (known := _known(name)) is not None:
        return w.add(known.kind, w.value(op.operands[0]))
    if name == "chlo.top_k":
        return _top_k(op, w)
    return w.call(text(op, "decomposition"), w.operands(op))
