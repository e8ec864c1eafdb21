"""STABLEHLO_DOT_GENERAL, STABLEHLO_CONVOLUTION: products of any dimensions.

Source: The StableHLO specification.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ....engine.families import gemm
from ....engine.families.conversion import convert
from ....engine.families.layout import move
from ....engine.families.parameters import Sliding
from ....engine.plan.buffer import Buffer, arena, constant
from ....engine.plan.view import View
from ....engine.sizes import largest
from ...numpy_calls import array_by_numpy
from ...plan.node import DynamicResult, HostCall
from ...plan.substitution import small_floats
from ...registry import op
from ..window import enlarged
from .elementwise import EVERY, numbers, operands, require_kind

if TYPE_CHECKING:
    from ....engine.plan.program import Program
    from ...plan.node import Node, Operand

_PLAIN = {
    **{f"{sign}int{n}": ("matrices", f"int{n}") for n in (8, 16, 32, 64) for sign in ("", "u")},
    "float64": ("matrices_f64", "float64"),
}
"""Type of results -> the kernel of plain_int.py that gives them, and the type it takes them for."""
_NOT_CONVERTED = ("uint64", "float16")
"""Types whose numbers no instruction makes others of."""


@op("STABLEHLO_DOT_GENERAL")
@small_floats
def dot_general(node: Node) -> Callable[[Program], None] | HostCall | DynamicResult:
    """Sums over the contracting dimensions of products, for each index of the batching ones.

    The result has the batching dimensions, then the others of the left operand, then of the right.
    """
    pair = operands(node, 2)
    require_kind(node, pair[0], EVERY)
    dtype = node.outputs[0].dtype or pair[0].dtype
    axes: list[tuple[list[int], list[int], list[int]]] = []
    for side, x in zip(("lhs", "rhs"), pair, strict=True):
        batch, depth = (
            numbers(node, f"{side}_{what}_dimensions") for what in ("batching", "contracting")
        )
        named = [*batch, *depth]
        node.require(
            len(set(named)) == len(named) and all(0 <= axis < x.ndim for axis in named),
            f"the {side} dimensions must be among {x.ndim}, each once, got {batch} and {depth}",
        )
        axes.append((batch, [i for i in range(x.ndim) if i not in named], depth))
    left, _ = pair
    for i in (0, 2):
        sizes = [[x.shape[axis] for axis in parts[i]] for x, parts in zip(pair, axes, strict=True)]
        node.require_equal(
            tuple(sizes[0]),
            tuple(sizes[1]),
            f"dimensions must agree, got {sizes[0]} and {sizes[1]}",
        )
    batch = [left.shape[axis] for axis in axes[0][0]]
    rows, columns = ([x.shape[i] for i in parts[1]] for x, parts in zip(pair, axes, strict=True))
    shape = (*batch, *rows, *columns)
    depth = prod(left.shape[axis] for axis in axes[0][2])
    matrices = [(prod(batch), prod(n), depth) for n in (rows, columns)]
    if dtype.name in _PLAIN and all(_becomes(x.dtype, dtype) for x in pair):
        out = node.result(shape, dtype)
        return partial(_plain_products, pair, axes, matrices, out)
    if not all(x.dtype == np.float32 for x in pair) or dtype != np.float32:

        def run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
            operands = [
                array.transpose([*parts[0], *parts[1], *parts[2]]).reshape(matrix).astype(dtype)
                for array, parts, matrix in zip((x, y), axes, matrices, strict=True)
            ]
            return np.matmul(operands[0], operands[1].transpose(0, 2, 1))

        return array_by_numpy(node, run, shape, dtype)
    out = node.result(shape, dtype)

    def emit(program: Program) -> None:
        x, y = (
            arranged(program, operand, [*parts[0], *parts[1], *parts[2]]).reshape(matrix)
            for operand, parts, matrix in zip(pair, axes, matrices, strict=True)
        )
        target = out.reshape((prod(batch), prod(rows), prod(columns)))
        gemm.matmul(program, x, y, None, target, transpose_b=True)

    return emit


def _becomes(dtype: np.dtype, other: np.dtype) -> bool:
    """Whether an instruction converts numbers of a type to another one."""
    kinds = "iuf" if other.kind == "f" else "iu"
    return dtype == other or (dtype.kind in kinds and dtype.name not in _NOT_CONVERTED)


def _plain_products(
    pair: Sequence[Operand],
    axes: Sequence[tuple[list[int], list[int], list[int]]],
    matrices: Sequence[tuple[int, int, int]],
    out: Operand,
    program: Program,
) -> None:
    """Adds out = products of numbers that are converted to the type of the result first."""
    if not out.size:
        return
    x, y = (
        convert(
            program, arranged(program, operand, [*parts[0], *parts[1], *parts[2]]), out.dtype
        ).reshape(matrix)
        for operand, parts, matrix in zip(pair, axes, matrices, strict=True)
    )
    (batches, rows, _), (_, columns, _) = matrices
    _add_products(program, x, y, out.reshape((batches, rows, columns)))


def arranged(program: Program, x: Operand, permutation: list[int]) -> Buffer:
    """`x` with its dimensions in another order."""
    if permutation == sorted(permutation):
        return x
    out = arena([x.shape[axis] for axis in permutation], x.dtype)
    move(program, View.of(x).transpose(tuple(permutation)), out)
    return out


class Convolution(NamedTuple):
    """What a STABLEHLO_CONVOLUTION says, each spatial dimension with a number in each list.

    Attributes:
        orders: dimensions of the image, the filters and the result: batch and channels (of filters:
            number and channels of a group), then the spatial ones.
        groups: of the batch and of the channels.
        strides: steps of the filter.
        spread: steps from one element of the image to the next.
        dilations: steps from one tap to the next.
        padding: what is put before and behind the image; negative numbers cut off.
        reversal: 1 where the filter is turned around.
        padded: sizes of the image with what is put around it and between its elements.
        counts: positions of the filter.
        shape: that of the result.
    """

    orders: Sequence[Sequence[int]]
    groups: tuple[int, int]
    strides: Sequence[int]
    spread: Sequence[int]
    dilations: Sequence[int]
    padding: Sequence[Sequence[int]]
    reversal: Sequence[int]
    padded: Sequence[int]
    counts: Sequence[int]
    shape: Sequence[int]

    @classmethod
    def of(cls, node: Node, x: Operand, filters: Operand) -> Convolution:
        """That of an operator whose operands and options agree."""
        rank = x.ndim - 2
        node.require(
            rank >= 0 and filters.ndim == x.ndim,
            f"operands must have one rank of 2 or more, got {x.shape} and {filters.shape}",
        )
        orders = [_order(node, *names, ndim=x.ndim) for names in _DIMENSIONS]
        strides = numbers(node, "window_strides") or [1] * rank
        spread = numbers(node, "lhs_dilation") or [1] * rank
        dilations = numbers(node, "rhs_dilation") or [1] * rank
        padding = np.reshape(numbers(node, "padding") or [0] * (2 * rank), (-1, 2)).tolist()
        reversal = numbers(node, "window_reversal") or [0] * rank
        node.require(
            all(len(row) == rank for row in (strides, spread, dilations, padding, reversal))
            and min((*strides, *spread, *dilations), default=1) > 0,
            f"strides, dilations and padding must be {rank} positive numbers each",
        )
        batches, groups = (
            max(int(getattr(node.options, f"{what}_group_count")), 1)
            for what in ("batch", "feature")
        )
        n, channels, *sizes = (x.shape[axis] for axis in orders[0])
        n_filters, depth, *taps = (filters.shape[axis] for axis in orders[1])
        node.require_equal(
            channels,
            depth * groups,
            f"filters of {depth} channels, {groups} groups, got {channels}",
        )
        node.require(
            n % batches == 0 and n_filters % (groups * batches) == 0,
            f"batch {n} and {n_filters} filters must divide into {batches} and {groups} groups",
        )
        padded = [
            largest((size - 1) * step + 1, 0) + low + high
            for size, step, (low, high) in zip(sizes, spread, padding, strict=True)
        ]
        counts = [
            largest((size - ((k - 1) * dilation + 1)) // stride + 1, 0)
            for size, k, dilation, stride in zip(padded, taps, dilations, strides, strict=True)
        ]
        result = (n // batches, n_filters, *counts)
        shape = [result[orders[2].index(axis)] for axis in range(x.ndim)]
        return cls(
            orders, (batches, groups), strides, spread, dilations, padding, reversal, padded,
            counts, shape,
        )  # fmt: skip

    @property
    def low(self) -> list[int]:
        """What is put before the image."""
        return [low for low, _ in self.padding]

    @property
    def is_usual(self) -> bool:
        """Whether CONV_2D has such a convolution."""
        return (
            len(self.strides) in (1, 2)
            and self.groups[0] == 1
            and {*self.spread} == {1}
            and not any(self.reversal)
            and min(number for pair in self.padding for number in pair) >= 0
        )


_DIMENSIONS = (
    ("input_batch_dimension", "input_feature_dimension", "input_spatial_dimensions"),
    (
        "kernel_output_feature_dimension",
        "kernel_input_feature_dimension",
        "kernel_spatial_dimensions",
    ),
    ("output_batch_dimension", "output_feature_dimension", "output_spatial_dimensions"),
)
"""The options that name the dimensions of the image, the filters and the result."""


def _order(node: Node, first: str, second: str, spatial: str, *, ndim: int) -> list[int]:
    """The dimensions that three options name."""
    order = [
        int(getattr(node.options, first)),
        int(getattr(node.options, second)),
        *numbers(node, spatial),
    ]
    node.require(
        sorted(order) == list(range(ndim)), f"dimensions must name each of {ndim} once, got {order}"
    )
    return order


@op("STABLEHLO_CONVOLUTION")
@small_floats
def convolution(node: Node) -> Callable[[Program], None] | HostCall | DynamicResult:
    """The convolution over any spatial dimensions, with dilations of both operands and groups.

    Those of float32 over one or two dimensions, as networks have them, are CONV_2D's; others are
    products of matrices.
    """
    x, filters = operands(node, 2)
    require_kind(node, x, EVERY)
    conv = Convolution.of(node, x, filters)
    dtype = node.outputs[0].dtype or x.dtype
    is_empty = 0 in (*conv.shape, *x.shape, *filters.shape)
    is_float32 = all(t == np.float32 for t in (x.dtype, filters.dtype, dtype))
    if conv.is_usual and not is_empty and is_float32:
        return partial(_convolve, x, filters, node.result(conv.shape, dtype), conv)
    if dtype.name in (*_PLAIN, "float32") and all(_becomes(t.dtype, dtype) for t in (x, filters)):
        return partial(_convolve_patches, (x, filters), node.result(conv.shape, dtype), conv)
    is_small = dtype.itemsize < 4 and dtype.kind not in "biu"
    wide = np.dtype(np.float32) if is_small else dtype
    return array_by_numpy(node, partial(_convolve_arrays, conv, wide), conv.shape, dtype)


def _convolve_arrays(
    conv: Convolution, dtype: np.dtype, x: np.ndarray, filters: np.ndarray
) -> np.ndarray:
    """The convolution by numpy, of types that no kernel has."""
    if 0 in conv.counts:
        return np.zeros(conv.shape, dtype)
    rank = x.ndim - 2
    spatial = range(2, x.ndim)
    image = _spread(x.transpose(conv.orders[0]).astype(dtype), conv.spread, conv.padding)
    flips = (slice(None, None, -1 if flip else 1) for flip in conv.reversal)
    kernels = filters.transpose(conv.orders[1]).astype(dtype)[(slice(None), slice(None), *flips)]
    spans = [(k - 1) * step + 1 for k, step in zip(kernels.shape[2:], conv.dilations, strict=True)]
    steps = (slice(None, None, step) for step in (*conv.strides, *conv.dilations))
    windows = np.lib.stride_tricks.sliding_window_view(image, spans, axis=tuple(spatial))
    windows = windows[(slice(None), slice(None), *steps)]
    batches, groups = conv.groups
    blocks = np.split(windows, batches) if batches > 1 else np.split(windows, groups, axis=1)
    axes = [1, *range(2 + rank, 2 + 2 * rank)], [1, *spatial]
    parts = [
        np.moveaxis(np.tensordot(block, weights, axes), -1, 1)
        for block, weights in zip(blocks, np.split(kernels, batches * groups), strict=True)
    ]
    return np.concatenate(parts, axis=1).transpose(np.argsort(conv.orders[2]))


def _of_two(numbers: Sequence[int], neutral: int) -> tuple[int, int]:
    """Numbers of one or two spatial dimensions as those of height and width."""
    return (neutral, numbers[0]) if len(numbers) == 1 else (numbers[0], numbers[1])


def _convolve(
    x: Operand,
    filters: Operand,
    out: Operand,
    conv: Convolution,
    program: Program,
) -> None:
    """Adds out = the convolution of `x` by CONV_2D's kernels, or DEPTHWISE_CONV_2D's."""
    of_image, of_filters, of_out = conv.orders
    groups = conv.groups[1]
    sliding = Sliding(_of_two(conv.strides, 1), _of_two(conv.low, 0), _of_two(conv.dilations, 1))
    n, channels, *sizes = of_image
    image = _planes(arranged(program, x, [n, *sizes, channels]))
    n_filters, depth, *taps = of_filters
    batch, features, *counts = of_out
    last = [batch, *counts, features]
    results = out if last == sorted(last) else arena([out.shape[i] for i in last], out.dtype)
    if groups > 1 and filters.shape[depth] == 1:
        weights = arranged(program, filters, [*taps, n_filters, depth])
        height_and_width = _of_two([filters.shape[i] for i in taps], 1)
        weights = weights.reshape((*height_and_width, filters.shape[n_filters]))
        gemm.depthwise(program, image, weights, None, _planes(results), sliding)
    else:
        weights = _planes(arranged(program, filters, [n_filters, *taps, depth]))
        gemm.conv2d(program, image, weights, None, _planes(results), sliding, groups=groups)
    if results is not out:
        positions = [last.index(axis) for axis in range(len(last))]
        move(program, View.of(results).transpose(tuple(positions)), out)


def _convolve_patches(
    operands: tuple[Operand, Operand],
    out: Operand,
    conv: Convolution,
    program: Program,
) -> None:
    """Adds out = products of the image under each position of the filter with the filter."""
    if not out.size:
        return
    image, filters = (
        convert(program, arranged(program, x, list(order)), out.dtype)
        for x, order in zip(operands, conv.orders, strict=False)
    )
    batches, groups = conv.groups
    n, channels = image.shape[:2]
    n_filters, depth, *taps = filters.shape
    rank, total = len(taps), prod(conv.groups)
    zero = constant(np.zeros((), out.dtype))
    padded, low = [n, channels, *conv.padded], [0, 0, *conv.low]
    image = enlarged(program, image, zero, padded, low, [1, 1, *conv.spread])
    spatial = range(4, 4 + rank)
    pixels = View.of(image).split(0, batches, n // batches).split(2, groups, depth)
    pixels = pixels.transpose((0, 2, 1, *spatial, 3))
    patches = arena((*pixels.shape[:3], *conv.counts, prod(taps), depth), out.dtype)
    for k, tap in enumerate(np.ndindex(*taps)):
        source = pixels
        for axis, (i, dilation) in enumerate(zip(tap, conv.dilations, strict=True)):
            count, stride = conv.counts[axis], conv.strides[axis]
            source = source.part(3 + axis, i * dilation, count, stride)
        move(program, source, View.of(patches).pick(3 + rank, k))
    turned = View.of(filters)
    for axis in np.flatnonzero(conv.reversal).tolist():
        turned = turned.part(2 + axis, taps[axis] - 1, taps[axis], -1)
    weights = arena((n_filters, *taps, depth), out.dtype)
    move(program, turned.transpose((0, *range(2, 2 + rank), 1)), weights)
    products = arena(
        (total, patches.size // (total * prod(taps) * depth), n_filters // total), out.dtype
    )
    _add_products(
        program,
        patches.reshape((*products.shape[:2], prod(taps) * depth)),
        weights.reshape((total, n_filters // total, prod(taps) * depth)),
        products,
    )
    results = View.of(products).split(1, n // batches, *conv.counts)
    target = View.of(out).transpose(tuple(conv.orders[2])).split(1, total, n_filters // total)
    move(program, results, target.transpose((1, 0, *range(3, 3 + rank), 2)))


def _add_products(program: Program, x: Buffer, y: Buffer, out: Buffer) -> None:
    """Adds out[i] = x[i] @ y[i].T"""
    if out.dtype == np.float32:
        gemm.matmul(program, x, y, None, out, transpose_b=True)
        return
    name, dtype = _PLAIN[out.dtype.name]
    x, y, out = (buffer.view(dtype) for buffer in (x, y, out))
    program.call(f"plain_int.{name}", x, y, out, split=out.shape[0] * out.shape[1])


def _planes(x: Buffer) -> Buffer:
    """A row of vectors as a plane of one row."""
    return x if len(x.shape) == 4 else x.reshape((x.shape[0], 1, *x.shape[1:]))


def _spread(
    x: np.ndarray, dilations: Sequence[int], padding: Sequence[Sequence[int]]
) -> np.ndarray:
    """`x` [n, channels, ...] with zeros between its elements and around it, or cut off."""
    sizes = [
        (n - 1) * step + 1 + max(low, 0) + max(high, 0)
        for n, step, (low, high) in zip(x.shape[2:], dilations, padding, strict=True)
    ]
    dilated = np.zeros((*x.shape[:2], *sizes), x.dtype)
    inside: list[slice] = []
    cut: list[slice] = []
    for n, step, (low, high) in zip(x.shape[2:], dilations, padding, strict=True):
        inside.append(slice(max(low, 0), max(low, 0) + (n - 1) * step + 1, step))
        cut.append(slice(max(-low, 0), min(high, 0) or None))
    dilated[(slice(None), slice(None), *inside)] = x
    return dilated[(slice(None), slice(None), *cut)]
