"""Arithmetic of complex numbers, which TFLite has no kernels for: by real and imaginary parts.

Operators that only move elements take complex numbers as they are (spectral.py has the others).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..lowering import formulas
from ..lowering.moves import extent, like, regrouped, slice_along, transposed
from .registry import LOWERINGS, Node

if TYPE_CHECKING:
    from ...graph.core import graph as tf
    from ..ir.builder import Builder
    from ..ir.graph import Tensor

Parts = tuple["Tensor", "Tensor"]
"""The real and the imaginary parts of complex numbers."""

PARTS = {np.dtype(np.complex64): np.float32, np.dtype(np.complex128): np.float64}
"""Types of complex numbers, and of their parts."""
WHOLES = {np.dtype(part): whole for whole, part in PARTS.items()}
"""Types of real numbers, and of what has such parts."""


def complex_of(real: Tensor, imaginary: Tensor, b: Builder) -> Tensor:
    """Complex numbers with these parts."""
    pairs = b.PACK(real, imaginary, axis=real.rank, values_count=2)
    return b.BITCAST(pairs, dtype=WHOLES[real.dtype])


def parts_of(x: Tensor, b: Builder) -> Parts:
    """The real and the imaginary parts of complex numbers."""
    if x.value is not None:
        real, imaginary = np.real(x.value), np.imag(x.value)
        return b.constant(np.ascontiguousarray(real)), b.constant(np.ascontiguousarray(imaginary))
    return b.REAL(x, dtype=PARTS[x.dtype]), b.IMAG(x, dtype=PARTS[x.dtype])


def multiply(b: Builder, x: Sequence[Tensor], y: Sequence[Tensor]) -> Parts:
    """(a + bi) (c + di) = ac - bd + (ad + bc) i."""
    return (
        b.SUB(b.MUL(x[0], y[0]), b.MUL(x[1], y[1])),
        b.ADD(b.MUL(x[0], y[1]), b.MUL(x[1], y[0])),
    )


def squared_size(b: Builder, x: Parts) -> Tensor:
    """|z|**2."""
    return b.ADD(b.MUL(x[0], x[0]), b.MUL(x[1], x[1]))


def size(b: Builder, x: Parts) -> Tensor:
    """|z|, as it is computed of the number as a whole."""
    return b.COMPLEX_ABS(complex_of(*x, b), dtype=x[0].dtype)


def conjugate(b: Builder, x: Parts) -> Parts:
    """The same with the other sign of the imaginary part."""
    return x[0], b.NEG(x[1])


def by_real(b: Builder, x: Parts, divisor: Tensor) -> Parts:
    """z / r for a real r."""
    return b.DIV(x[0], divisor), b.DIV(x[1], divisor)


def divide(b: Builder, x: Parts, y: Parts) -> Parts:
    """z / w = z conj(w) / |w|**2."""
    return by_real(b, multiply(b, x, conjugate(b, y)), squared_size(b, y))


def divide_no_nan(b: Builder, x: Parts, y: Parts) -> Parts:
    """z / w, 0 where w is."""
    squared = squared_size(b, y)
    is_zero = b.EQUAL(squared, like(squared, 0, b))
    divisor = b.SELECT_V2(is_zero, like(squared, 1, b), squared)
    quotient = by_real(b, multiply(b, x, conjugate(b, y)), divisor)
    real, imaginary = (b.SELECT_V2(is_zero, like(part, 0, b), part) for part in quotient)
    return real, imaginary


def reciprocal(b: Builder, x: Parts) -> Parts:
    """1 / z = conj(z) / |z|**2."""
    return by_real(b, conjugate(b, x), squared_size(b, x))


def squared_difference(b: Builder, x: Parts, y: Parts) -> Parts:
    """|z - w|**2, which is real."""
    squared = squared_size(b, (b.SUB(x[0], y[0]), b.SUB(x[1], y[1])))
    return squared, b.ZEROS_LIKE(squared)


def exp(b: Builder, x: Parts) -> Parts:
    """e**a (cos b + i sin b)."""
    scale = b.EXP(x[0])
    return b.MUL(scale, b.COS(x[1])), b.MUL(scale, b.SIN(x[1]))


def log(b: Builder, x: Parts) -> Parts:
    """log |z| + i angle(z)."""
    return b.LOG(size(b, x)), b.ATAN2(x[1], x[0])


def sqrt(b: Builder, x: Parts) -> Parts:
    """That whose real part is not negative; the parts squared are (|z| + a) / 2, (|z| - a) / 2."""
    length = size(b, x)
    half = like(length, 0.5, b)
    real, imaginary = (
        b.SQRT(b.MAXIMUM(b.MUL(half, part), like(length, 0, b)))
        for part in (b.ADD(length, x[0]), b.SUB(length, x[0]))
    )
    is_below = b.LESS(x[1], like(length, 0, b))
    return real, b.SELECT_V2(is_below, b.NEG(imaginary), imaginary)


def sin(b: Builder, x: Parts) -> Parts:
    """sin a cosh b + i cos a sinh b."""
    return (
        b.MUL(b.SIN(x[0]), formulas.cosh(b, x[1])),
        b.MUL(b.COS(x[0]), formulas.sinh(b, x[1])),
    )


def cos(b: Builder, x: Parts) -> Parts:
    """cos a cosh b - i sin a sinh b."""
    return (
        b.MUL(b.COS(x[0]), formulas.cosh(b, x[1])),
        b.NEG(b.MUL(b.SIN(x[0]), formulas.sinh(b, x[1]))),
    )


def sinh(b: Builder, x: Parts) -> Parts:
    """sinh a cos b + i cosh a sin b."""
    return (
        b.MUL(formulas.sinh(b, x[0]), b.COS(x[1])),
        b.MUL(formulas.cosh(b, x[0]), b.SIN(x[1])),
    )


def cosh(b: Builder, x: Parts) -> Parts:
    """cosh a cos b + i sinh a sin b."""
    return (
        b.MUL(formulas.cosh(b, x[0]), b.COS(x[1])),
        b.MUL(formulas.sinh(b, x[0]), b.SIN(x[1])),
    )


def tanh(b: Builder, x: Parts) -> Parts:
    """With t = tanh a: (t + i (1 - t**2) sin b cos b) / (cos**2 b + t**2 sin**2 b)."""
    t, sine, cosine = b.TANH(x[0]), b.SIN(x[1]), b.COS(x[1])
    squared = b.MUL(t, t)
    divisor = b.ADD(b.MUL(cosine, cosine), b.MUL(squared, b.MUL(sine, sine)))
    slope = b.SUB(like(t, 1, b), squared)
    return by_real(b, (t, b.MUL(slope, b.MUL(sine, cosine))), divisor)


def sigmoid(b: Builder, x: Parts) -> Parts:
    """1 / (1 + exp(-z)) = (1 + tanh(z / 2)) / 2."""
    half = like(x[0], 0.5, b)
    real, imaginary = tanh(b, (b.MUL(half, x[0]), b.MUL(half, x[1])))
    return b.MUL(half, b.ADD(real, like(real, 1, b))), b.MUL(half, imaginary)


def power(b: Builder, x: Parts, y: Parts) -> Parts:
    """exp(w log z); 0 for z = 0, but 1 where w is 0, too."""
    raised = exp(b, multiply(b, log(b, x), y))
    zero = like(x[0], 0, b)
    base_is_zero, exponent_is_zero = (
        b.LOGICAL_AND(b.EQUAL(part, zero), b.EQUAL(other, zero)) for part, other in (x, y)
    )
    at_zero = b.CAST(exponent_is_zero, dtype=zero.dtype)
    return b.SELECT_V2(base_is_zero, at_zero, raised[0]), b.SELECT_V2(base_is_zero, zero, raised[1])


def sign(b: Builder, x: Parts) -> Parts:
    """z / |z|, 0 for 0."""
    length = size(b, x)
    is_zero = b.EQUAL(length, like(length, 0, b))
    return by_real(b, x, b.SELECT_V2(is_zero, like(length, 1, b), length))


ELEMENTWISE: dict[str, Callable[..., Parts]] = {
    "Cos": cos,
    "Cosh": cosh,
    "Div": divide,
    "DivNoNan": divide_no_nan,
    "Exp": exp,
    "Inv": reciprocal,
    "Log": log,
    "Log1p": lambda b, x: log(b, (b.ADD(x[0], like(x[0], 1, b)), x[1])),
    "Mul": multiply,
    "Pow": power,
    "RealDiv": divide,
    "Reciprocal": reciprocal,
    "Rsqrt": lambda b, x: reciprocal(b, sqrt(b, x)),
    "Sigmoid": sigmoid,
    "Sign": sign,
    "Sin": sin,
    "Sinh": sinh,
    "Sqrt": sqrt,
    "Square": lambda b, x: multiply(b, x, x),
    "SquaredDifference": squared_difference,
    "Tanh": tanh,
    "Xdivy": divide,
}
"""What operations give, by the parts of their operands."""

LINEAR = (
    *("Add", "AddN", "AddV2", "BiasAdd", "Cumsum", "Mean", "Neg", "SegmentSum", "Sub", "Sum"),
    *("AccumulateNV2", "UnsortedSegmentSum"),
)
"""Operations that do with each part what they do with real numbers."""

PRODUCTS = (
    "BatchMatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    "Einsum",
    "MatMul",
    "XlaDot",
    "XlaDotV2",
)
"""Sums of products of two operands."""

ADJOINT = ("adj_x", "adj_y")
"""Attributes with which an operand is transposed and conjugated."""


def is_complex(x: Tensor) -> bool:
    """Whether it holds complex numbers."""
    return x.dtype in PARTS


def complex_lowering(op: tf.Operation) -> Callable[[Node, Builder], Any] | None:
    """What makes operators of an operation on complex numbers; None where the usual one does."""
    if not any(x.dtype is not None and x.dtype in PARTS for x in op.inputs):
        return None
    return LOWERED.get(op.type)


def _elementwise(node: Node, b: Builder) -> Tensor:
    parts = [parts_of(x, b) for x in node.inputs]
    return complex_of(*ELEMENTWISE[node.type](b, *parts), b)


def _by_part(node: Node, b: Builder) -> Tensor:
    """The operation on the real parts and on the imaginary ones; other inputs are for both."""
    lowering = LOWERINGS.known(node.type)
    columns = [parts_of(x, b) if is_complex(x) else (x, x) for x in node.inputs]
    real, imaginary = (
        lowering(Node(node.op, [*inputs]), b) for inputs in zip(*columns, strict=True)
    )
    return complex_of(real, imaginary, b)


def _product(node: Node, b: Builder) -> Tensor:
    lowering = LOWERINGS.known(node.type)
    parts = [parts_of(x, b) for x in node.inputs]
    if node.type.startswith("BatchMatMul"):
        is_conjugate = map(node.attr, ADJOINT)
        parts = [conjugate(b, x) if c else x for x, c in zip(parts, is_conjugate, strict=True)]
    if len(parts) == 1:
        return _by_part(node, b)
    x, y = parts
    products = [[lowering(Node(node.op, [p, q]), b) for q in y] for p in x]
    real = b.SUB(products[0][0], products[1][1])
    return complex_of(real, b.ADD(products[0][1], products[1][0]), b)


def _folded_product(node: Node, b: Builder) -> Tensor:
    """The product along axes of known sizes: of halves, again and again."""
    x, axes = node.inputs[0], node.axes(np.ravel(node.constant(1)))
    sizes = [x.dims[i] for i in axes]
    node.require(None not in sizes, f"the sizes of its axes must be known, got {sizes}")
    others = [i for i in range(x.rank) if i not in axes]
    shape = [1 if i in axes else extent(x, i, b) for i in range(x.rank)]
    parts = []
    for part in parts_of(x, b):
        rows = transposed(part, [*axes, *others], b)
        parts.append(regrouped(rows, [prod(sizes), *(shape[i] for i in others)], b))
    size = prod(sizes)
    if size == 0:
        node.fail("its axes must not be empty")
    while size > 1:
        half = size // 2
        halves = [[slice_along(t, 0, i * half, half, b) for t in parts] for i in (0, 1)]
        results = multiply(b, halves[0], halves[1])
        if size % 2:
            ends = [slice_along(t, 0, size - 1, 1, b) for t in parts]
            results = [b.CONCATENATION(*pair, axis=0) for pair in zip(results, ends, strict=True)]
        parts, size = results, half + size % 2
    result = complex_of(parts[0], parts[1], b)
    return regrouped(result, shape if node.attr("keep_dims") else [shape[i] for i in others], b)


def _equal(node: Node, b: Builder) -> Tensor:
    x, y = (parts_of(x, b) for x in node.inputs)
    is_equal = b.LOGICAL_AND(b.EQUAL(x[0], y[0]), b.EQUAL(x[1], y[1]))
    return is_equal if node.type == "Equal" else b.LOGICAL_NOT(is_equal)


LOWERED: dict[str, Callable[[Node, Builder], Any]] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    **dict.fromkeys(LINEAR, _by_part),
    **dict.fromkeys(PRODUCTS, _product),
    "Equal": _equal,
    "Prod": _folded_product,
    "NotEqual": _equal,
}
