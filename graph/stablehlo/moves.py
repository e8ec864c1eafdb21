"""StableHLO's operations that make, move and cut tensors."""

from __future__ import annotations

import numpy as np

from ...schema.errors import ConverterError
from .control import dynamic_reduce_window
from .expansions import FUNCTIONS
from .linear_algebra import LAPACK
from .registry import writes
from .shapes import dtype_at, shape_at
from .writer import attribute, broadcast_axes, numbers

MAX_POSITIONS = 1 << 20


@writes("constant")
def constant(op, w):
    """A constant."""
    return w.constant(attribute(op, "value"))


@writes("iota", "dynamic_iota")
def iota(op, w):
    """Positions along one dimension."""
    axis, result = attribute(op, "iota_dimension"), op.results[0]
    sizes, dtype = shape_at(result), dtype_at(result)
    w.positions[result] = axis
    shape = [-1 if i == axis else 1 for i in range(len(sizes))]
    if sizes[axis] is not None and sizes[axis] <= MAX_POSITIONS:
        line = w.constant(np.arange(sizes[axis]).astype(dtype).reshape(shape))
    else:
        count = w.add("GatherV2", w.int32(w.value(op.operands[0])), *_at(axis, w))
        line = w.add("Range", w.constant(0, np.int32), count, w.constant(1, np.int32))
        line = w.reshape(w.add("Cast", line, DstT=dtype), shape)
    if len(sizes) == 1:
        return line
    w.narrow[result] = line
    target = w.int32(w.value(op.operands[0])) if op.operands else w.constant(sizes, np.int32)
    return w.add("BroadcastTo", line, target)


def _at(axis, w):
    return w.constant(axis, np.int32), w.constant(0, np.int32)


@writes("broadcast_in_dim", "dynamic_broadcast_in_dim")
def broadcast_in_dim(op, w):
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
    target = w.int32(w.value(op.operands[1])) if op.operands[1:] else w.constant(sizes, np.int32)
    return w.add("BroadcastTo", x, target)


@writes("reshape", "dynamic_reshape")
def reshape(op, w):
    """A tensor in another shape."""
    x, sizes = w.value(op.operands[0]), shape_at(op.results[0])
    if op.operands[1:] and sizes.count(None) > 1:
        return w.add("Reshape", x, w.int32(w.value(op.operands[1])))
    return w.reshape(x, [-1 if n is None else n for n in sizes])


@writes("transpose")
def transpose(op, w):
    """A tensor with its dimensions in another order."""
    order = w.constant(numbers(op, "permutation"), np.int32)
    return w.add("Transpose", w.value(op.operands[0]), order)


@writes("concatenate")
def concatenate(op, w):
    """Tensors one after another."""
    operands = w.operands(op)
    axis = w.constant(attribute(op, "dimension"), np.int32)
    return w.add("ConcatV2", *operands, axis) if len(operands) > 1 else operands[0]


@writes("slice")
def slice_(op, w):
    """A part of a tensor."""
    parts = [numbers(op, name) for name in ("start_indices", "limit_indices", "strides")]
    return w.add("StridedSlice", w.value(op.operands[0]), *(w.constant(x, np.int32) for x in parts))


@writes("real_dynamic_slice")
def real_dynamic_slice(op, w):
    """A part of a tensor between computed places."""
    x, *parts = w.operands(op)
    return w.add("StridedSlice", x, *(w.int32(t) for t in parts))


@writes("dynamic_slice", "dynamic_update_slice")
def dynamic_slice(op, w):
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
def pad(op, w):
    """Values around a tensor and between its elements."""
    x, value, *parts = w.operands(op)
    if not parts:
        names = ("edge_padding_low", "edge_padding_high", "interior_padding")
        parts = [w.constant(numbers(op, name), np.int32) for name in names]
    return w.add("XlaPad", x, value, *(w.int32(t) for t in parts))


@writes("reverse")
def reverse(op, w):
    """A tensor backwards along dimensions."""
    return w.add(
        "ReverseV2", w.value(op.operands[0]), w.constant(numbers(op, "dimensions"), np.int32)
    )


@writes("get_dimension_size")
def get_dimension_size(op, w):
    """One size of a tensor."""
    axis = attribute(op, "dimension")
    shape = w.shape(op.operands[0])
    one = [w.constant([n], np.int32) for n in (axis, axis + 1, 1)]
    return w.add("StridedSlice", shape, *one, shrink_axis_mask=1)


@writes("partition_id", "replica_id")
def replica_id(op, w):
    """0: the only one."""
    return w.constant(0, dtype_at(op.results[0]))


@writes("custom_call")
def custom_call(op, w):
    """Calls that say something to a compiler, or what TF has an operation for."""
    target, operands = attribute(op, "call_target_name"), op.operands
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


def _top_k(op, w):
    """The largest elements along the last dimension, and where they are."""
    k = shape_at(op.results[0])[-1]
    return w.add_all("TopKV2", w.value(op.operands[0]), w.constant(k, np.int32))


def _approximate_top_k(op, w):
    """The largest or smallest elements along a dimension: exactly, which any recall allows."""
    config = attribute(op, "mhlo.backend_config")
    axis, k, rank = config["reduction_dim"], config["top_k"], len(shape_at(op.operands[0]))
    (comparator,) = attribute(op, "called_computations")
    directions = {
        inner.attributes["comparison_direction"].value
        for inner in w.module.functions[comparator].regions[0].operations
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


CALLS = {
    **LAPACK,
    "ApproxTopK": _approximate_top_k,
    "mhlo.topk": _top_k,
    "stablehlo.dynamic_reduce_window": dynamic_reduce_window,
    "stablehlo.dynamic_top_k": _top_k,
}
"""Names of custom calls -> what writes them."""


def _known(name):
    """What a name of CHLO or MHLO means; None of other names."""
    dialect, _, function = name.partition(".")
    return FUNCTIONS.get(function) if dialect in ("chlo", "mhlo") else None


@writes("composite")
def composite(op, w):
    """What a name of CHLO means, else the function that computes it."""
    name = attribute(op, "name")
    if (known := _known(name)) is not None:
        return w.add(known.kind, w.value(op.operands[0]))
    if name == "chlo.top_k":
        k = w.constant(shape_at(op.results[0])[-1], np.int32)
        return w.add_all("TopKV2", w.value(op.operands[0]), k)
    return w.call(attribute(op, "decomposition"), w.operands(op))
