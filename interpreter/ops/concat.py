"""CONCATENATION, PACK, SPLIT, SPLIT_V, UNPACK: tensors put together and taken apart."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.elementwise import look_up
from ...engine.families.fixedpoint import rounded
from ...engine.families.layout import move
from ...engine.plan.buffer import Buffer, arena, constant
from ...engine.plan.view import View
from ...engine.sizes import is_plain, negative
from ...schema.tables import name_of
from ..checks import one_scale, required, same_dtype
from ..plan.substitution import moves_any
from ..registry import op
from .quantized import to_int32, wrapped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.program import Program
    from ...schema.quantization import Quantization
    from ..plan.node import Emit, Node, Operand, Prepared


@op("CONCATENATION")
@moves_any
def concatenation(node: Node) -> Emit:
    """The inputs one after the other along `axis`; those of uint8 may have scales of their own."""
    parts = required(node, max(1, len(node.inputs)))
    first = parts[0]
    axis = node.axis("axis", first)
    other_dims = first.shape[:axis] + first.shape[axis + 1 :]
    same_dtype(node, parts)
    for part in parts:
        node.require_equal(
            part.shape[:axis] + part.shape[axis + 1 :] if part.ndim == first.ndim else None,
            other_dims,
            f"inputs must have equal shapes but for axis {axis}, "
            f"got {first.shape} and {part.shape}",
        )
    code = node.options.fused_activation_function
    node.require(
        not code, f"fused activation must be NONE, got {name_of('ActivationFunctionType', code)}"
    )
    if first.dtype == np.uint8:
        tables = [_table(node, part) for part in parts]
    else:
        _same_quantization(node)
        tables = [None] * len(parts)
    size = sum(part.shape[axis] for part in parts)
    out = node.result((*first.shape[:axis], size, *first.shape[axis + 1 :]), first.dtype)

    def emit(program: Program) -> None:
        start = 0
        for part, table in zip(parts, tables, strict=True):
            count, source = part.shape[axis], View.of(part)
            if table is not None:
                rescaled = arena(part.shape, part.dtype)
                look_up(program, part, table, rescaled)
                source = View.of(rescaled)
            move(program, source, View.of(out).part(axis, start, count))
            start += count

    return emit


def _table(node: Node, part: Operand) -> Buffer | None:
    """Bytes on the output's scale by bytes on the part's; None where these are the same."""
    input_params, output_params = part.quantization, node.outputs[0].quantization
    if input_params is None or output_params is None or _equal(input_params, output_params):
        return None
    one_scale(node, part)
    with np.errstate(all="ignore"):
        scale = np.float32(input_params.scale) * (np.float32(1) / np.float32(output_params.scale))
        offset = np.float32(-input_params.zero_point) * scale
        values = rounded(np.arange(256, dtype=np.float32) * scale + offset)
    values = np.clip(wrapped(to_int32(values) + output_params.zero_point), 0, 255)
    return constant(values.astype(np.uint8))


def _equal(first: Quantization, second: Quantization) -> bool:
    return first.scale == second.scale and first.zero_point == second.zero_point


@op("PACK")
@moves_any
def pack(node: Node) -> Emit:
    """The inputs along a new dimension `axis`."""
    parts = required(node, max(1, len(node.inputs)))
    first = parts[0]
    axis = _new_axis(node, first.ndim + 1)
    same_dtype(node, parts)
    for part in parts:
        node.require_equal(
            part.shape,
            first.shape,
            f"inputs must have equal shapes, got {first.shape} and {part.shape}",
        )
    _same_quantization(node)
    out = node.result((*first.shape[:axis], len(parts), *first.shape[axis:]), first.dtype)

    def emit(program: Program) -> None:
        for i, part in enumerate(parts):
            move(program, View.of(part), View.of(out).pick(axis, i))

    return emit


@op("UNPACK")
@moves_any
def unpack(node: Node) -> Emit:
    """The slices of `x` along `axis`, without that dimension."""
    (x,) = required(node, 1)
    axis = node.axis("axis", x)
    count = int(node.options.num)
    node.require_equal(
        x.shape[axis], count, f"num must be the size {x.shape[axis]} of axis {axis}, got {count}"
    )
    shape = x.shape[:axis] + x.shape[axis + 1 :]
    outs = [node.result(shape, x.dtype) for _ in range(count)]

    def emit(program: Program) -> None:
        for i, out in enumerate(outs):
            move(program, View.of(x).pick(axis, i), View.of(out))

    return emit


@op("SPLIT")
@moves_any
def split(node: Node) -> Prepared:
    """`x` in `num_splits` equal parts along the axis of the first input."""
    _, x = required(node, 2)
    axis = _axis_input(node, 0, x)
    count = int(node.options.num_splits)
    message = f"num_splits must divide the size {x.shape[axis]} of axis {axis}, got {count}"
    node.require(count > 0, message)
    node.require_equal(x.shape[axis] % count, 0, message)
    return _cut(node, x, axis, [x.shape[axis] // count] * count)


@op("SPLIT_V")
@moves_any
def split_v(node: Node) -> Prepared:
    """`x` in parts of the sizes of the second input; one -1 takes what is left."""
    (x,) = required(node, 1)
    sizes = node.sizes(1)
    axis = _axis_input(node, 2, x)
    free = [i for i, n in enumerate(sizes) if n == -1 and is_plain(n)]
    others = [n for i, n in enumerate(sizes) if i not in free]
    node.require(
        len(free) <= 1 and not negative(others),
        f"sizes must not be negative but for one -1, got {sizes}",
    )
    if free:
        sizes[free[0]] = x.shape[axis] - sum(others)
    message = f"sizes must add up to the size {x.shape[axis]} of axis {axis}, got {sizes}"
    node.require(not negative(sizes), message)
    node.require_equal(sum(sizes), x.shape[axis], message)
    return _cut(node, x, axis, sizes)


def _cut(node: Node, x: Operand, axis: int, sizes: Sequence[int]) -> Emit | None:
    """Results of the given sizes along `axis`, and the rows that fill them.

    Parts that lie in one piece each are left where they are.
    """
    shapes = [(*x.shape[:axis], n, *x.shape[axis + 1 :]) for n in sizes]
    if prod(x.shape[:axis]) == 1:
        offset = x.offset
        for shape in shapes:
            part = node.alias(Buffer(x.dtype, shape, x.storage, offset), shape)
            offset += part.nbytes
        return None
    outs = [node.result(shape, x.dtype) for shape in shapes]

    def emit(program: Program) -> None:
        start = 0
        for out, n in zip(outs, sizes, strict=True):
            move(program, View.of(x).part(axis, start, n), View.of(out))
            start += n

    return emit


def _axis_input(node: Node, i: int, x: Operand) -> int:
    value = node.constant(i)
    node.require(value.size == 1, f"axis must be one number, got shape {value.shape}")
    return node.axis("axis", x, int(value.ravel()[0]))


def _new_axis(node: Node, rank: int) -> int:
    axis = int(node.options.axis)
    node.require(-rank <= axis < rank, f"axis must be in [{-rank}, {rank}), got {axis}")
    return axis % rank


def _same_quantization(node: Node) -> None:
    """Refuses inputs whose integers mean other real numbers than those of the output."""
    output_params = node.outputs[0].quantization
    for part in required(node, len(node.inputs)):
        input_params = part.quantization
        if part.is_integer and input_params is not None and output_params is not None:
            node.require(
                _equal(input_params, output_params),
                f"inputs must have the output's scale {output_params.scale} and zero point "
                f"{output_params.zero_point}, got {input_params.scale} and "
                f"{input_params.zero_point} of '{part.name}'; put a QUANTIZE before it",
            )
