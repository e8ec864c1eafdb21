"""XLA's operations that exports of JAX have: products, convolutions, padding.

xla_gather.py and xla_reduce.py have those on windows and with functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...graph.ops.xla_numbers import dimension_numbers
from ..ir.elements import extents_of
from ..lowering.moves import (
    as_type,
    cropped,
    extent,
    int32s,
    like,
    regrouped,
    reshaped,
    transposed,
)
from .complex import PARTS
from .einsum import Operand, contract
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder
    from ..ir.dims import Extent
    from ..ir.graph import Tensor

LETTERS = "abcdefghijklmnopqrstuvwxyz"
EXACT = 1 << 24
"""The largest of the whole numbers that float32 has all of."""


@lower("XlaSharding", "XlaSetBound")
def unchanged(node, b):
    """The input: what these say is for the compiler alone."""
    return node.inputs[0]


@lower("XlaOptimizationBarrier")
def optimization_barrier(node, b):
    """The inputs."""
    return tuple(node.inputs)


@lower("XlaReplicaId")
def replica_id(node, b):
    """0: the only one of one replica."""
    return b.constant(np.int32(0))


@lower("XlaBroadcastHelper")
def broadcast_helper(node, b):
    """Both operands with as many dimensions; those of the smaller one are at constant places."""
    axes, rank = node.constant(2), max(node.rank(0), node.rank(1))
    results = []
    for x in node.inputs[:2]:
        if x.rank < rank and axes.size:
            sizes: list[Tensor | int] = [1] * rank
            for i, axis in enumerate(axes.tolist()):
                sizes[axis] = extent(x, i, b)
            x = regrouped(x, sizes, b)
        results.append(x)
    return tuple(results)


@lower("XlaDot", "XlaDotV2")
def dot(node, b):
    """Sums of products: batch dimensions, then the free ones of both operands."""
    numbers, letters = dimension_numbers(node.op, "Dot"), iter(LETTERS)
    terms = [[""] * node.rank(i) for i in (0, 1)]
    batch = ""
    for left, right in zip(numbers.lhs_batch_dimensions, numbers.rhs_batch_dimensions, strict=True):
        terms[0][left] = terms[1][right] = letter = next(letters)
        batch += letter
    pairs = (numbers.lhs_contracting_dimensions, numbers.rhs_contracting_dimensions)
    for left, right in zip(*pairs, strict=True):
        terms[0][left] = terms[1][right] = next(letters)
    target = batch
    for term in terms:
        for i, letter in enumerate(term):
            if not letter:
                term[i] = next(letters)
                target += term[i]
    sizes, operands = {}, []
    result = node.op.outputs[0].dtype.dtype
    dtype = np.dtype(PARTS.get(result, result))  # complex products are those of parts
    for i, term in enumerate(terms):
        sizes |= dict(zip(term, node.shape(i), strict=True))
    if dtype.kind in "iu":
        return _integer_dot(node, ["".join(term) for term in terms], target, sizes, b)
    for i, term in enumerate(terms):
        operands.append(Operand(as_type(node.inputs[i], dtype, b), "".join(term)))
    first, second = operands
    return contract(node, first, second, target, sizes, b)


def exact_depth(types: Sequence[np.dtype]) -> int:
    """How many products of integers of two types float32 adds without rounding."""
    largest = [abs(int(np.iinfo(dtype).min)) or int(np.iinfo(dtype).max) for dtype in types]
    return EXACT // (largest[0] * largest[1])


def _integer_dot(node, terms: Sequence[str], target: str, sizes: dict, b: Builder) -> Tensor:
    """Products of integers: as those of floats where they are exact, else as they are."""
    dtype, x, y = node.op.outputs[0].dtype.dtype, *node.inputs
    depths = [sizes[c] for c in terms[0] if c in terms[1] and c not in target]
    is_known = None not in depths and int(np.prod(depths)) > 0
    if is_known and int(np.prod(depths)) <= exact_depth([x.dtype, y.dtype]):
        rows = zip((x, y), terms, strict=True)
        first, second = (Operand(as_type(t, np.float32, b), term) for t, term in rows)
        return as_type(contract(node, first, second, target, sizes, b), dtype, b)
    wide = np.dtype(np.int32 if dtype.itemsize < 8 and dtype.kind == "i" else np.int64)
    letters = target + "".join(c for c in terms[0] if c not in target)
    spread_out = []
    for t, term in zip((x, y), terms, strict=True):
        order = "".join(c for c in letters if c in term)
        t = transposed(as_type(t, wide, b), [term.index(c) for c in order], b)
        for i, c in enumerate(letters):
            t = t if c in term else b.EXPAND_DIMS(t, np.int32(i))
        spread_out.append(t)
    folded = int32s(range(len(target), len(letters)))
    product = b.MUL(*spread_out)
    return as_type(b.SUM(product, folded) if folded.size else product, dtype, b)


class Convolution:
    """What an XlaConv says, its operands as [n, *spatial, c] and [*spatial, c, o]."""

    def __init__(self, node, b: Builder) -> None:
        numbers = dimension_numbers(node.op, "Convolution")
        dtype = node.op.outputs[0].dtype.dtype
        if dtype.kind in "iu":
            _require_exact(node, numbers)
            dtype = np.dtype(np.float32)
        spatial = [*numbers.input_spatial_dimensions]
        order = [numbers.input_batch_dimension, *spatial, numbers.input_feature_dimension]
        self.x = transposed(as_type(node.inputs[0], dtype, b), order, b)
        order = [*numbers.kernel_spatial_dimensions]
        order += [numbers.kernel_input_feature_dimension, numbers.kernel_output_feature_dimension]
        self.filters = transposed(as_type(node.inputs[1], dtype, b), order, b)
        order = [numbers.output_batch_dimension, *numbers.output_spatial_dimensions]
        self.back = np.argsort([*order, numbers.output_feature_dimension]).tolist()
        self.strides, self.pads, self.holes, self.dilations = (
            node.constant(i).tolist() for i in range(2, 6)
        )
        self.groups = int(node.constant(6))

    @property
    def n_spatial(self) -> int:
        """The number of spatial dimensions."""
        return len(self.strides)

    def widened(self, b: Builder) -> None:
        """Makes one spatial dimension two, of which the first has the size 1."""
        self.x = b.EXPAND_DIMS(self.x, np.int32(1))
        sizes = self.filters.dims
        self.filters = reshaped(self.filters, [1, *(-1 if n is None else n for n in sizes)], b)
        self.strides, self.holes, self.dilations = (
            [1, *values] for values in (self.strides, self.holes, self.dilations)
        )
        self.pads = [[0, 0], *self.pads]


@lower("XlaConv", "XlaConvV2")
def conv(node, b):
    """A convolution over one to three dimensions; with holes in the input, a transposed one."""
    node.require(
        node.type == "XlaConv" or node.attr("batch_group_count") == 1,
        "batch_group_count must be 1; others are of gradients",
    )
    conv = Convolution(node, b)
    n_spatial = conv.n_spatial
    node.require(n_spatial in (1, 2, 3), f"it must have 1 to 3 dimensions, got {n_spatial}")
    if n_spatial == 1:
        conv.widened(b)
    y = _transposed_conv(conv, b) if _is_transposed(conv) else _conv(node, conv, b)
    if n_spatial == 1:
        y = b.SQUEEZE(y, squeeze_dims=[1])
    return as_type(transposed(y, conv.back, b), node.op.outputs[0].dtype.dtype, b)


def _require_exact(node, numbers) -> None:
    """Refuses a convolution of integers that float32 does not give without rounding."""
    axes = [numbers.kernel_input_feature_dimension, *numbers.kernel_spatial_dimensions]
    depths = [node.shape(1)[i] for i in axes]
    limit = exact_depth([x.dtype for x in node.inputs[:2]])
    node.require(
        None not in depths and int(np.prod(depths)) <= limit,
        f"a convolution of integers must add at most {limit} products, which float32 does without "
        f"rounding, got {depths}",
    )


def _is_transposed(conv: Convolution) -> bool:
    """Whether TRANSPOSE_CONV says it: holes in the input, and padding within the filter."""
    kernel = conv.filters.dims[:2]
    return (
        conv.n_spatial == 2
        and max(conv.holes) > 1
        and max(conv.strides) == max(conv.dilations) == conv.groups == 1
        and conv.filters.value is not None
        and all(max(pair) < n for pair, n in zip(conv.pads, kernel, strict=True))
        and all(n is not None for n in conv.x.dims[1:3])
    )


def _transposed_conv(conv: Convolution, b: Builder) -> Tensor:
    """The result that each element of the input spreads by the filter, without a border."""
    assert conv.filters.value is not None  # _is_transposed looks at both
    weights = conv.filters.value[::-1, ::-1]
    kernel = weights.shape[:2]
    rows = zip(cast("Sequence[int]", conv.x.dims[1:3]), conv.holes, kernel, strict=True)
    sizes = [(n - 1) * step + k for n, step, k in rows]
    shape = shape_of_parts([extent(conv.x, 0, b), *sizes, weights.shape[-1]], b)
    filters = b.constant(np.ascontiguousarray(weights.transpose(3, 0, 1, 2)))
    y = b.TRANSPOSE_CONV(
        shape, filters, conv.x, padding="VALID", stride_h=conv.holes[0], stride_w=conv.holes[1]
    )
    crops = [[k - 1 - n for n in pair] for pair, k in zip(conv.pads, kernel, strict=True)]
    return cropped(y, [[0, 0], *crops, [0, 0]], b)


def extents(node, i: int) -> list[Extent]:
    """The elements of an input that is known but for unknown sizes, as numbers and expressions."""
    tensor = node.inputs[i]
    if tensor.elements is None:
        return np.asarray(node.constant(i)).ravel().tolist()
    return extents_of(tensor).ravel().tolist()


def shape_of_parts(sizes: Sequence[Tensor | int], b: Builder) -> Tensor:
    """A shape of numbers and int32 scalars."""
    parts = [b.constant(np.int32(n)) if isinstance(n, int) else n for n in sizes]
    return b.PACK(*parts, axis=0, values_count=len(parts))


def _conv(node, conv: Convolution, b: Builder) -> Tensor:
    """A convolution of an input that is padded before."""
    pads, holes = [[0, 0], *conv.pads, [0, 0]], [1, *conv.holes, 1]
    x = surrounded(conv.x, pads, like(conv.x, 0, b), b, holes)
    n = conv.n_spatial
    *_, depth, count = cast("Sequence[int]", conv.filters.dims)
    names = "hw" if n == 2 else "dhw"
    options = {f"stride_{name}": step for name, step in zip(names, conv.strides, strict=True)}
    for name, step in zip(names, conv.dilations, strict=True):
        options[f"dilation_{name}_factor"] = step
    if n == 3:
        node.require(conv.groups == 1, "a convolution over 3 dimensions must not have groups")
        return b.CONV_3D(x, conv.filters, padding="VALID", **options)
    if conv.groups > 1 and depth == 1:
        sizes = cast("Sequence[int]", conv.filters.dims)
        node.require(None not in sizes, f"the filters' shape must be known, got {sizes}")
        return b.DEPTHWISE_CONV_2D(
            x,
            reshaped(conv.filters, (1, sizes[0], sizes[1], count), b),
            padding="VALID",
            depth_multiplier=count // conv.groups,
            **options,
        )
    return b.CONV_2D(x, transposed(conv.filters, (3, 0, 1, 2), b), padding="VALID", **options)


def surrounded(
    x: Tensor,
    pads: Sequence[Sequence[int]],
    value: Tensor,
    b: Builder,
    steps: Sequence[int] = (),
) -> Tensor:
    """`x` with a value around it and between its elements, or less of it where numbers are below 0.

    Args:
        x: the tensor.
        pads: how many values come before and after it along each dimension.
        value: a scalar.
        b: the builder.
        steps: from one element to the next; 1 everywhere when empty.
    """
    pairs = np.array(pads, np.int32).reshape(-1, 2)
    if max(steps, default=1) > 1:
        return b.STABLEHLO_PAD(
            x,
            value,
            edge_padding_low=pairs[:, 0].tolist(),
            edge_padding_high=pairs[:, 1].tolist(),
            interior_padding=[step - 1 for step in steps],
        )
    if (pairs > 0).any():
        around = b.constant(np.maximum(pairs, 0))
        is_zero = value.value is not None and not value.value.any()
        x = b.PAD(x, around) if is_zero else b.PADV2(x, around, value)
    return cropped(x, np.maximum(-pairs, 0).tolist(), b)


@lower("XlaPad")
def pad(node, b):
    """Values between the elements and around them."""
    low, high, between = (node.constant(i) for i in (2, 3, 4))
    x, value = node.inputs[:2]
    return surrounded(x, np.stack([low, high], 1).tolist(), value, b, (between + 1).tolist())
