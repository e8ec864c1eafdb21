"""GATHER, GATHER_ND, EMBEDDING_LOOKUP, SCATTER_ND, SPARSE_TO_DENSE, DYNAMIC_UPDATE_SLICE."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import copy, fill, write_box
from ...engine.plan.buffer import arena, constant
from ...engine.sizes import is_plain
from ...schema.dtypes import tf_name
from ..checks import name_of_dtype, required, same_dtype
from ..plan.node import NeedsValue
from ..plan.substitution import moves_any
from ..registry import op
from .quantized import quantization_of, signed_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ...engine.plan.buffer import Buffer
    from ...engine.plan.program import Program
    from ..plan.node import Emit, Node, Operand, Prepared

_INDICES: Sequence[type] = (np.int16, np.int32, np.int64)
_LOOKED_UP: Sequence[type] = (np.float32, np.float16)
_TABLES = ("int8", "uint8", "int4", "int2")
"""Types of rows that EMBEDDING_LOOKUP turns to floats."""


@op("GATHER")
@moves_any
def gather(node: Node) -> Prepared:
    """Slices of `params` along `axis`, one for each of `indices`."""
    params, indices = required(node, 2)
    axis = node.axis("axis", params)
    _require_indices(node, indices)
    batch = int(node.options.batch_dims)
    batch += indices.ndim if batch < 0 else 0
    node.require(
        0 <= batch <= min(axis, indices.ndim),
        f"batch_dims must be in [0, {min(axis, indices.ndim)}], got {node.options.batch_dims}",
    )
    node.require_equal(
        params.shape[:batch],
        indices.shape[:batch],
        f"the first {batch} dimensions must be equal, got {params.shape} and {indices.shape}",
    )
    shape = params.shape[:axis] + indices.shape[batch:] + params.shape[axis + 1 :]
    out = node.result(shape, params.dtype)
    batches, outer, inner = (
        prod(params.shape[:batch]),
        prod(params.shape[batch:axis]),
        prod(params.shape[axis + 1 :]),
    )
    count = prod(indices.shape[batch:])

    def emit(program: Program) -> None:
        if indices.size:
            program.call(
                "gather.slices",
                params.reshape((batches, outer, params.shape[axis], inner)),
                _as_int64(program, indices).reshape((batches, count)),
                out.reshape((batches, outer, count, inner)),
                split=batches * outer,
            )

    return emit


@op("GATHER_ND")
@moves_any
def gather_nd(node: Node) -> Prepared:
    """The slices of `params` at the points that the rows of `indices` name."""
    params, indices = required(node, 2)
    _require_indices(node, indices)
    node.require(
        indices.ndim >= 1 and indices.shape[-1] <= params.ndim,
        f"indices must have 1 to {params.ndim} numbers in each row, got shape {indices.shape}",
    )
    depth = _depth(indices)
    shape = indices.shape[:-1] + params.shape[depth:]
    out = node.result(shape, params.dtype)
    count, inner = prod(indices.shape[:-1]), prod(params.shape[depth:])

    def emit(program: Program) -> None:
        if count:
            program.call(
                "gather.points",
                params.reshape((prod(params.shape[:depth]), inner)),
                _as_int64(program, indices).reshape((count, depth)),
                constant(np.array(params.shape[:depth], np.int64)),
                out.reshape((count, inner)),
                split=count,
            )

    return emit


@op("SCATTER_ND")
def scatter_nd(node: Node) -> Emit:
    """Zeros of the shape of the third input, with `updates` added at the points of `indices`."""
    indices, updates = required(node, 2)
    shape = node.sizes(2)
    node.require(indices.dtype == np.int32, f"indices must be int32, got {tf_name(indices.dtype)}")
    node.require(
        indices.ndim >= 1 and indices.shape[-1] <= len(shape),
        f"indices must have 1 to {len(shape)} numbers in each row, got shape {indices.shape}",
    )
    depth = _depth(indices)
    expected_shape = (*indices.shape[:-1], *shape[depth:])
    message = f"updates must have shape {expected_shape}, got {updates.shape}"
    node.require_equal(updates.shape, expected_shape, message)
    out = node.result(shape, updates.dtype)
    count, inner = prod(indices.shape[:-1]), prod(shape[depth:])

    def emit(program: Program) -> None:
        fill(program, constant(np.zeros(1, updates.dtype)), out)
        if count:
            program.call(
                "scatter.add",
                indices.reshape((count, depth)),
                updates.reshape((count, inner)),
                constant(np.array(shape[:depth], np.int64)),
                out.reshape((prod(shape[:depth]), inner)),
            )

    return emit


@op("SPARSE_TO_DENSE")
@moves_any
def sparse_to_dense(node: Node) -> Emit:
    """The fourth input everywhere, but the values of the third at the points of the first."""
    indices, _, values, default = required(node, 4)
    shape = node.sizes(1)
    _require_indices(node, indices)
    same_dtype(node, (values, default))
    depth = indices.shape[-1] if indices.ndim == 2 else 1
    node.require(
        indices.ndim <= 2 and depth == len(shape),
        f"indices must be rows of {len(shape)} numbers, got shape {indices.shape}",
    )
    count = indices.size // depth if depth else 0
    node.require(
        values.size == 1 or values.shape == (count,),
        f"values must be one or {count}, got shape {values.shape}",
    )
    node.require(default.size == 1, f"the default must be one value, got shape {default.shape}")
    out = node.result(shape, values.dtype)

    def emit(program: Program) -> None:
        fill(program, default, out)
        if count:
            program.call(
                "scatter.assign",
                _converted(program, indices, np.int64).reshape((count, depth)),
                values.ravel(),
                constant(np.array(shape, np.int64)),
                out.ravel(),
            )

    return emit


@op("EMBEDDING_LOOKUP")
@moves_any
def embedding_lookup(node: Node) -> Emit:
    """The rows of the second input that the first one names, as floats when so declared."""
    rows, table = required(node, 2)
    node.require(
        rows.ndim == 1 and rows.dtype == np.int32,
        f"the rows must be int32 of one dimension, got {tf_name(rows.dtype)} of shape {rows.shape}",
    )
    node.require(table.ndim >= 2, f"the table must have 2 dimensions, got shape {table.shape}")
    out = node.result((rows.size, *table.shape[1:]), node.outputs[0].dtype or table.dtype)
    if out.dtype == table.dtype:
        return lambda program: _take(program, table, rows, out)
    table = signed_weights(table)
    node.require(
        out.dtype in _LOOKED_UP and name_of_dtype(table.dtype) in _TABLES,
        f"a table of {tf_name(table.dtype)} cannot give {tf_name(out.dtype)}",
    )
    row_scales = _row_scales(node, table)
    value = table.value
    int8_table = table.view(np.int8) if value is None else constant(value.astype(np.int8))

    def emit(program: Program) -> None:
        if not out.size:
            return
        entries = arena(out.shape, np.int8)
        _take(program, int8_table, rows, entries)
        n_scales = rows.size * row_scales.shape[-1]
        scales = arena((n_scales,), np.float32)
        if len(row_scales) == 1:
            fill(program, constant(row_scales), scales)
        else:
            _take(program, constant(row_scales), rows, scales)
        shape = (1, n_scales, out.size // n_scales)
        real = out if out.dtype == np.float32 else arena(out.shape, np.float32)
        program.call(
            "quantize.dequantize",
            entries.reshape(shape),
            scales,
            constant(np.zeros(n_scales, np.int32)),
            real.reshape(shape),
            split=n_scales,
        )
        _converted(program, real, out.dtype, out)

    return emit


@op("DYNAMIC_UPDATE_SLICE")
@moves_any
def dynamic_update_slice(node: Node) -> Emit:
    """`x` with `update` written over it at the start indices, held so that it fits."""
    x, update, starts = required(node, 3)
    same_dtype(node, (x, update))
    _require_indices(node, starts)
    node.require(
        starts.shape == (x.ndim,), f"start indices must have shape {(x.ndim,)}, got {starts.shape}"
    )
    node.require(
        update.ndim == x.ndim and all(n <= m for n, m in zip(update.shape, x.shape, strict=True)),
        f"update must fit into shape {x.shape}, got {update.shape}",
    )
    out = node.in_place(0)

    def emit(program: Program) -> None:
        copy(program, x, out)
        write_box(program, update, _converted(program, starts, np.int64), out)

    return emit


def _take(program: Program, table: Buffer, rows: Buffer, out: Buffer) -> None:
    """Adds the instruction out = table[rows], along the first dimension."""
    inner = prod(table.shape[1:])
    program.call(
        "gather.slices",
        table.reshape((1, 1, table.shape[0], inner)),
        rows.reshape((1, rows.size)),
        out.reshape((1, 1, rows.size, inner)),
        split=1,
    )


def _row_scales(node: Node, table: Operand) -> np.ndarray:
    """The scales of a table, [1, 1], [rows, 1], or [rows, blocks] of those quantized by blocks."""
    blocks = None if table.quantization is None else table.quantization.blocks
    if blocks is not None:
        node.require(
            blocks.zero_points is None or not blocks.zero_points.any(),
            "the table must have zero points 0",
        )
        node.require(
            set(blocks.shape[:-1]) == {1}, f"blocks must be parts of a row, got {blocks.shape}"
        )
        return blocks.scales.reshape((table.shape[0], -1))
    quantization = quantization_of(node, table, "the table")
    node.require(
        not quantization.zero_points.any()
        and len(quantization.scales) in (1, table.shape[0])
        and quantization.axis == 0,
        f"the table must have zero points 0 and one scale, or one for each of {table.shape[0]} "
        f"rows, got {len(quantization.scales)} along axis {quantization.axis}",
    )
    return quantization.scales.astype(np.float32).reshape((-1, 1))


def _depth(indices: Operand) -> int:
    """How many dimensions a row of indices names."""
    if not is_plain(indices.shape[-1]):
        raise NeedsValue(1)
    return indices.shape[-1]


def _require_indices(node: Node, indices: Operand) -> None:
    node.require(
        indices.dtype in _INDICES,
        f"indices must be integers, got {tf_name(indices.dtype)}",
    )


def _as_int64(program: Program, indices: Operand) -> Buffer:
    """The indices in a type the kernels take."""
    return _converted(program, indices, np.int32) if indices.dtype == np.int16 else indices


def _converted(
    program: Program, x: Buffer, dtype: npt.DTypeLike, out: Buffer | None = None
) -> Buffer:
    from ...engine.families.conversion import convert  # the indices of most models are int32

    return convert(program, x, dtype, out)
