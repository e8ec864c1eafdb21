"""Products: EinsumDense, matmul, einsum, dot."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from ....graph.core.graph import Tensor
from ..activation import activated
from ..files.architecture import Layer
from ..registry import Call, layer
from .arrange import diagonal
from .operations import axes_of, operands, operation

EQUATION = re.compile(r"(\.\.\.)?([a-zA-Z]+)(\.\.\.)?,([a-zA-Z]+)->(\.\.\.)?([a-zA-Z]+)(\.\.\.)?")


def matmul(call: Call, x: Tensor, y: Tensor, **attrs: Any) -> Tensor:
    """x @ y."""
    ranks = len(call.shape(x)), len(call.shape(y))
    return call.op("MatMul" if ranks == (2, 2) else "BatchMatMulV2", x, y, **attrs)


def reshaped(call: Call, x: Tensor, dims: Sequence[int | Tensor | None]) -> Tensor:
    """`x` in another form; a dimension that is None or a tensor is not known."""
    unknown = [i for i, n in enumerate(dims) if not isinstance(n, int)]
    if len(unknown) <= 1:
        return call.op("Reshape", x, call.constant([n if isinstance(n, int) else -1 for n in dims]))
    known = [-1 if n is None else n for n in dims]
    return call.op("Reshape", x, call.sizes(known))


def dims_of(call: Call, x: Tensor) -> list[int | Tensor]:
    """The dimensions, each a number where it is known."""
    return [call.size(x, i) if n is None else n for i, n in enumerate(call.shape(x))]


def einsum_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of an EinsumDense."""
    return ("kernel", "bias") if layer.config.get("bias_axes") else ("kernel",)


@layer("EinsumDense", weights=einsum_weights)
def einsum_dense(call: Call, x: Tensor) -> Tensor:
    """einsum(equation, x, kernel) + bias, and the activation."""
    equation = call.setting("equation")
    match = EQUATION.fullmatch(equation) if isinstance(equation, str) else None
    call.check(match, "equation", "of the form ab,bc->ac or ...b,bc->...c")
    assert match is not None
    first, left, last, weights, _, right, _ = match.groups()
    shape = call.shape(x)
    n_free = len(shape) - len(left) if first or last else 0
    call.require(len(left) + n_free == len(shape) and n_free >= 0, "the input has another rank")
    spare = (s for s in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if s not in equation)
    free = "".join(next(spare) for _ in range(n_free))
    terms, result = (free + t if first else t + free for t in (left, right))
    sizes = dict(zip(terms, shape, strict=True))
    sizes |= _output_sizes(call, result, sizes)
    dims = [call.known(sizes.get(label), f"dimension {label}") for label in weights]
    kernel = call.weight("kernel", dims)
    y = call.op("Einsum", x, kernel, equation=f"{terms},{weights}->{result}")
    if "bias" in einsum_weights(call.layer):
        y = call.op("AddV2", y, _bias(call, result, sizes))
    return activated(call, y)


def _output_sizes(call: Call, result: str, sizes: dict) -> dict:
    """The dimensions of the result, aligned from the end as Keras does."""
    output = call.setting("output_shape")
    output = output if isinstance(output, list) else [output]
    call.check(len(output) <= len(result), "output_shape", f"at most {len(result)} dimensions")
    labels = result[len(result) - len(output) :]
    return {
        label: n for label, n in zip(labels, output, strict=True) if isinstance(n, int) and n > 0
    }


def _bias(call: Call, result: str, sizes: dict) -> Tensor:
    """The bias, in a shape that broadcasts."""
    axes = call.setting("bias_axes")
    call.check(isinstance(axes, str) and set(axes) <= set(result), "bias_axes", "of the result")
    first = min(result.index(axis) for axis in axes)
    shape = [
        call.known(sizes.get(label), f"dimension {label}") if label in axes else 1
        for label in result[first:]
    ]
    return call.weight("bias", shape)


@operation("Matmul", "tf.linalg.matmul", "tf.matmul", a="x1", b="x2")
def matmul_function(
    call: Call, x1: Any, x2: Any, transpose_a: Any = False, transpose_b: Any = False, **others: Any
) -> Tensor:
    """x1 @ x2."""
    x, y = operands(call, x1, x2)
    ranks = len(call.shape(x)), len(call.shape(y))
    if 1 in ranks:
        return _vectors(call, x, y, ranks)
    names = ("transpose_a", "transpose_b") if ranks == (2, 2) else ("adj_x", "adj_y")
    flags = dict(zip(names, (transpose_a is True, transpose_b is True), strict=True))
    return matmul(call, x, y, **flags)


def _vectors(call: Call, x: Tensor, y: Tensor, ranks: tuple[int, int]) -> Tensor:
    """The product with vectors, which are rows on the left and columns on the right."""
    if ranks[0] == 1:
        x = call.op("ExpandDims", x, call.constant(0))
    if ranks[1] == 1:
        y = call.op("ExpandDims", y, call.constant(1))
    z = matmul(call, x, y)
    axes = ([-2] if ranks[0] == 1 else []) + ([-1] if ranks[1] == 1 else [])
    rank = len(call.shape(z))
    return call.op("Squeeze", z, squeeze_dims=[rank + axis for axis in axes])


@operation("Einsum")
def einsum(call: Call, *operands_: Any, subscripts: Any = None) -> Tensor:
    """Sums of products by an equation."""
    return _einsum(call, subscripts, operands_)


@operation("tf.einsum")
def tf_einsum(call: Call, equation: Any, *inputs: Any) -> Tensor:
    """Sums of products by an equation."""
    return _einsum(call, equation, inputs)


def _einsum(call: Call, equation: Any, inputs: Sequence[Any]) -> Tensor:
    call.require(isinstance(equation, str), "the equation must be a text")
    if "->" not in equation:
        labels = [c for c in equation if c.isalpha()]
        equation += "->" + "".join(sorted(c for c in set(labels) if labels.count(c) == 1))
    tensors = operands(call, *inputs)
    left, _, result = equation.replace(" ", "").partition("->")
    terms = left.split(",")
    call.require(len(terms) == len(tensors), f"the equation must have {len(tensors)} terms")
    if "..." not in left:
        parts = [_diagonals(call, *pair) for pair in zip(tensors, terms, strict=True)]
        tensors, terms = [x for x, _ in parts], [term for _, term in parts]
    call.require(len(tensors) <= 2 or "..." not in left, "... is supported for two operands only")
    while len(tensors) > 2:
        needed = set(result).union(*terms[2:])
        term = "".join(c for c in dict.fromkeys(terms[0] + terms[1]) if c in needed)
        product = call.op("Einsum", *tensors[:2], equation=f"{terms[0]},{terms[1]}->{term}")
        tensors, terms = [product, *tensors[2:]], [term, *terms[2:]]
    return call.op("Einsum", *tensors, equation=f"{','.join(terms)}->{result}")


def _diagonals(call: Call, x: Tensor, term: str) -> tuple[Tensor, str]:
    """An operand and its term, in which no letter stands twice."""
    twins = [(i, term.index(c, i + 1)) for i, c in enumerate(term) if term.count(c, i) > 1]
    if not twins:
        return x, term
    first, second = twins[0]
    rank = len(call.shape(x))
    call.require(rank == len(term), f"'{term}' must name {rank} dimensions")
    others = [c for i, c in enumerate(term) if i not in (first, second)]
    return _diagonals(call, diagonal(call, x, 0, first, second), "".join([*others, term[first]]))


@operation("Dot")
def dot(call: Call, x1: Any, x2: Any) -> Tensor:
    """Sums of products: of vectors, matrices, or the last axis with the last but one."""
    x, y = operands(call, x1, x2)
    n, m = len(call.shape(x)), len(call.shape(y))
    if not n or not m:
        return call.op("Mul", x, y)
    if m <= 2:
        return matmul_function(call, x, y)
    return tensordot(call, x, y, [[n - 1], [m - 2]])


@operation("Inner")
def inner(call: Call, x1: Any, x2: Any) -> Tensor:
    """Sums of products along the last axis of both."""
    x, y = operands(call, x1, x2)
    n, m = len(call.shape(x)), len(call.shape(y))
    return tensordot(call, x, y, [[n - 1], [m - 1]]) if n and m else call.op("Mul", x, y)


@operation("Vdot")
def vdot(call: Call, x1: Any, x2: Any) -> Tensor:
    """The sum of the products of all elements."""
    x, y = (call.op("Reshape", t, call.constant([-1])) for t in operands(call, x1, x2))
    return call.op("Sum", call.op("Mul", x, y), call.constant([0]))


@operation("Tensordot", "tf.tensordot", a="x1", b="x2")
def tensordot(call: Call, x1: Any, x2: Any, axes: Any = 2) -> Tensor:
    """Sums of products along some axes of each."""
    x, y = operands(call, x1, x2)
    n, m = len(call.shape(x)), len(call.shape(y))
    if isinstance(axes, int):
        axes = [list(range(n - axes, n)), list(range(axes))]
    call.require(isinstance(axes, list) and len(axes) == 2, "axes must be a number or two lists")
    left, right = axes_of(call, axes[0], n), axes_of(call, axes[1], m)
    call.require(len(left) == len(right), "as many axes of each must be given")
    letters = "abcdefghijklmnopqrstuvwxyz"
    terms = [list(letters[:n]), list(letters[n : n + m])]
    for i, j in zip(left, right, strict=True):
        terms[1][j] = terms[0][i]
    result = [c for i, c in enumerate(terms[0]) if i not in left]
    result += [c for j, c in enumerate(terms[1]) if j not in right]
    a, b, c = ("".join(t) for t in (*terms, result))
    return call.op("Einsum", x, y, equation=f"{a},{b}->{c}")


@operation("Outer")
def outer(call: Call, x1: Any, x2: Any) -> Tensor:
    """All products."""
    x, y = operands(call, x1, x2)
    column = call.op("Reshape", x, call.constant([-1, 1]))
    return call.op("Mul", column, call.op("Reshape", y, call.constant([1, -1])))
