"""What TensorFlow's kernels say of operands that do not fit, where its shape functions differ."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.shapes import MAX_RANK, is_static, shown
from ..ops.elementwise import BINARY
from ..ops.linalg.matrix import unlike_diagonals

if TYPE_CHECKING:
    from ..core.graph import Operation

Sizes: TypeAlias = "tuple[int, ...]"
Values: TypeAlias = "Sequence[np.ndarray | None]"
Words: TypeAlias = "Callable[[Operation, Sequence[Sizes], Values], str | None]"


def kernel_words(
    op: Operation, shapes: Sequence[tuple[int | None, ...] | None], values: Values, words: str
) -> str:
    """The kernel's words for operands of these shapes and known values, else `words`."""
    sizes = [shape for shape in shapes if is_static(shape)]
    if op.type not in WORDS or len(sizes) < len(shapes):
        return words
    return WORDS[op.type](op, sizes, values) or words


def _broadcast(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    x, y = shapes[:2]
    pairs = zip(reversed(x), reversed(y), strict=False)
    if all(n == m or 1 in (n, m) for n, m in pairs):
        return None
    return f"Incompatible shapes: {shown(x)} vs. {shown(y)}"


def _product(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    for i, shape in enumerate(shapes):
        if len(shape) < 2:
            return f"In[{i}] ndims must be >= 2: {len(shape)}"
    x, y = map(shown, shapes)
    return f"Matrix size-incompatible: In[0]: {x}, In[1]: {y}"


def _reshape(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    if values[1] is None:
        return None
    n, sizes = prod(shapes[0]), cast("list[int]", values[1].reshape(-1).tolist())
    if len(sizes) >= MAX_RANK:
        return f"too many dimensions: must be < {MAX_RANK}, but received {len(sizes)}"
    free = [i for i, size in enumerate(sizes) if size == -1]
    if len(free) > 1:
        return f"Only one input size may be -1, not both {free[0]} and {free[1]}"
    start = f"Input to reshape is a tensor with {n} values, but the requested shape"
    known = prod(size for size in sizes if size != -1)
    return f"{start} requires a multiple of {known}" if free else f"{start} has {known}"


def _concat(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    axis, parts = values[-1], shapes[:-1]
    if axis is None:
        return None
    first = parts[0]
    for i, part in enumerate(parts):
        start, end = f"shape[0] = {shown(first)}", f"shape[{i}] = {shown(part)}"
        if len(part) != len(first):
            return f"ConcatOp : Ranks of all input tensors should match: {start} vs. {end}"
        for j, (n, m) in enumerate(zip(first, part, strict=True)):
            if n != m and j != int(axis) % len(first):
                words = f"ConcatOp : Dimension {j} in both shapes must be equal"
                return f"{words}: {start} vs. {end}"
    return None


def _pack(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    for i, shape in enumerate(shapes):
        if shape != shapes[0]:
            first = f"values[0].shape = {shown(shapes[0])}"
            return f"Shapes of all inputs must match: {first} != values[{i}].shape = {shown(shape)}"
    return None


def _bias(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    x, bias = shapes
    words = "Must provide as many biases as the last dimension of the input tensor"
    return f"{words}: {shown(bias)} vs. {shown(x)}"


def _labels(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    logits, labels = shapes
    if len(labels) != 1:
        return f"labels must be 1-D, but got shape {shown(labels)}"
    if logits[:1] == labels[:1]:
        return None
    return (
        "logits and labels must have the same first dimension, got logits shape "
        f"{shown(logits)} and labels shape {shown(labels)}"
    )


def _ensured(op: Operation, shapes: Sequence[Sizes], values: Values) -> str:
    expected = cast("tuple[int | None, ...]", op.get_attr("shape"))
    start = f"Shape of tensor {op.inputs[0].op.name} {shown(shapes[0])}"
    return f"{start} is not compatible with expected shape {shown(expected)}."


def _choice(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    condition, *others = shapes
    for i, shape in enumerate(others, 1):
        if shape != (condition if i == 1 else others[0]):
            start = "Inputs to operation Select of type Select must have the same size and shape."
            return f"{start}  Input 0: {shown(condition)} != input {i}: {shown(shape)}"
    return None


def _at_least(rank: int, name: str) -> Words:
    def words(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
        if len(shapes[0]) >= rank:
            return None
        return f"{name} must be at least {rank}-dim, received shape: {shown(shapes[0])}"

    return words


def _permutation(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    rank, size = len(shapes[0]), prod(shapes[1])
    if rank == size:
        return None
    return f"transpose expects a vector of size {rank}. But input(1) is a vector of size {size}"


def _reduction(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    rank, axes = len(shapes[0]), values[1]
    if axes is None:
        return None
    for axis in cast("list[int]", axes.reshape(-1).tolist()):
        if not -rank <= axis < rank:
            return f"Invalid reduction dimension ({axis} for input with {rank} dimension(s)"
    return None


def _depth(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    x, filters = shapes
    if len(x) != len(filters) or op.get_attr("data_format").startswith(b"NC"):
        return None
    depth = filters[-2]
    if depth and x[-1] % depth == 0:
        return None
    return f"input depth must be evenly divisible by filter depth: {x[-1]} vs {depth}"


def _statistics(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    x, scale = shapes[:2]
    first = op.get_attr("data_format").startswith(b"NC")
    channels = x[1 if first else -1] if len(x) > 1 else 0
    if scale == (channels,):
        return None
    words = "scale must have the same number of elements as the channels of x"
    return f"{words}, got {prod(scale)} and {channels}"


def _diagonals(op: Operation, shapes: Sequence[Sizes], values: Values) -> str | None:
    x, diagonal = shapes[:2]
    k = [0] if op.type == "MatrixSetDiag" else values[2]
    if len(x) < 2 or k is None:
        return _at_least(2, "input")(op, shapes, values)
    low, high = (int(number) for number in (np.min(k), np.max(k)))
    longest = min(x[-2] + min(high, 0), x[-1] - max(low, 0))
    expected = (*x[:-2], *((high - low + 1,) if low < high else ()), longest)
    return unlike_diagonals(x, diagonal, expected) if longest > 0 else None


REDUCTIONS = ("All", "Any", "EuclideanNorm", "Max", "Mean", "Min", "Prod", "Sum")
WORDS: dict[str, Words] = {
    **dict.fromkeys((*BINARY, "Equal", "NotEqual"), _broadcast),
    **dict.fromkeys(REDUCTIONS, _reduction),
    **dict.fromkeys(("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"), _statistics),
    **dict.fromkeys(("MatrixDiag", "MatrixDiagV2", "MatrixDiagV3"), _at_least(1, "diagonal")),
    **dict.fromkeys(
        ("MatrixDiagPart", "MatrixDiagPartV2", "MatrixDiagPartV3"), _at_least(2, "input")
    ),
    **dict.fromkeys(("MatrixSetDiag", "MatrixSetDiagV2", "MatrixSetDiagV3"), _diagonals),
    "BiasAdd": _bias,
    "ConcatV2": _concat,
    "Conv2D": _depth,
    "DepthwiseConv2dNative": _depth,
    "EnsureShape": _ensured,
    **dict.fromkeys(("BatchMatMul", "BatchMatMulV2", "MatMul"), _product),
    "Pack": _pack,
    "Reshape": _reshape,
    "Select": _choice,
    "SparseSoftmaxCrossEntropyWithLogits": _labels,
    "Transpose": _permutation,
}
"""Op type -> what its kernel says."""
