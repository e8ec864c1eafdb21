"""What random TF functions are made of: operations with operands that fit, of one generator.

A function is plain data. Shapes are worked out here, so that a seed stays the same function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

SIZES = (1, 1, 2, 2, 3, 3, 4, 5, 6, 8)
MOST = 2000
"""Elements of a tensor."""


@dataclass(frozen=True)
class Step:
    """One operation: operands are numbers of tensors or constants, results (dtype, shape)."""

    op: str
    inputs: tuple[Any, ...]
    results: tuple[tuple[str, tuple[int, ...]], ...]
    attrs: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Drawn:
    """A function and what it is given.

    Attributes:
        feeds: the inputs, which are the first tensors; the results of `steps` follow.
        steps: the operations.
        outputs: numbers of tensors.
        batch: how many leading inputs have an unknown first dimension.
    """

    feeds: tuple[np.ndarray, ...]
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    batch: int = 0


class Draw:
    """A function that grows operation by operation."""

    def __init__(self, rng: np.random.Generator):
        self.rng = rng
        self.feeds: list[np.ndarray] = []
        self.steps: list[Step] = []
        self.there: list[tuple[str, tuple[int, ...]]] = []

    def integer(self, low: int, high: int) -> int:
        """From low to high, both included."""
        return int(self.rng.integers(low, high + 1))

    def pick(self, items):
        """One of several."""
        return items[self.integer(0, len(items) - 1)]

    def flag(self) -> bool:
        """Yes or no."""
        return bool(self.integer(0, 1))

    def shape(self, rank: int) -> tuple[int, ...]:
        """A shape of few elements."""
        sizes = [self.pick(SIZES) for _ in range(rank)]
        return tuple(sizes) if prod(sizes) <= MOST else (1,) * rank

    def values(self, dtype: str, shape) -> np.ndarray:
        """Normals, small integers or booleans."""
        if dtype == "bool":
            return self.rng.integers(0, 2, shape).astype(bool)
        if dtype == "float32":
            return self.rng.normal(size=shape).astype(np.float32)
        return self.rng.integers(-4, 5, shape).astype(dtype)

    def input(self, dtype: str, shape) -> None:
        """Another input; all come before the first step."""
        self.feeds.append(self.values(dtype, shape))
        self.there.append((dtype, tuple(shape)))

    def some(self, fits: Callable[[str, tuple[int, ...]], bool] = lambda dtype, shape: True) -> int:
        """A tensor that fits, the latest most often; raises Unfit when there is none."""
        fitting = [i for i, one in enumerate(self.there) if fits(*one)]
        if not fitting:
            raise Unfit
        return self.pick(fitting[-3:] if self.flag() else fitting)

    def of(self, *dtypes: str, rank: int = 0) -> int:
        """A tensor of one of these types and at least this rank."""
        return self.some(lambda dtype, shape: dtype in dtypes and len(shape) >= rank)

    def add(self, op: str, inputs, *results, **attrs) -> None:
        """A step; results are (dtype, shape). Raises Unfit where they would be too large."""
        if any(prod(shape) > MOST or len(shape) > 5 for _, shape in results):
            raise Unfit
        results = tuple((dtype, tuple(map(int, shape))) for dtype, shape in results)
        self.steps.append(Step(op, tuple(inputs), results, attrs))
        self.there += results

    def finish(self) -> Drawn:
        """The function, with one to three outputs."""
        n_inputs = len(self.feeds)
        last = range(n_inputs, len(self.there))
        outputs = [last[-1], *(self.pick(last) for _ in range(self.integer(0, 2)))]
        steps, outputs = tuple(self.steps), tuple(dict.fromkeys(outputs))
        return Drawn(tuple(self.feeds), steps, outputs)


class Unfit(Exception):
    """No operands are there for what was to be drawn."""


ROWS: list[Callable[[Draw], None]] = []


def row(function):
    """Registers a rule that draws one operation."""
    ROWS.append(function)
    return function


FLOATS = (
    *("Abs", "Neg", "Exp", "Square", "Sin", "Cos", "Tanh"),
    *("Sigmoid", "Relu", "Relu6", "Elu", "Softplus", "Floor", "Ceil"),
    *("Round", "Sign", "LeakyRelu", "Selu", "Softsign", "Erf"),
)
BINARY = ("AddV2", "Sub", "Mul", "Minimum", "Maximum", "SquaredDifference")
COMPARED = ("Less", "LessEqual", "Greater", "GreaterEqual", "Equal", "NotEqual")
INTS = ("int32", "int64")
NUMBERS = ("float32", *INTS)


@row
def unary(d):
    i = d.of("float32")
    d.add(d.pick(FLOATS), [i], d.there[i])


@row
def guarded(d):
    """Functions of positive numbers only."""
    i = d.of("float32")
    d.add("Square", [i], d.there[i])
    d.add("AddV2", [len(d.there) - 1, np.float32(0.5)], d.there[i])
    d.add(d.pick(["Log", "Sqrt", "Rsqrt", "Log1p", "Reciprocal"]), [len(d.there) - 1], d.there[i])


@row
def integer_unary(d):
    i = d.of("int32")
    d.add(d.pick(["Abs", "Neg", "Square"]), [i], d.there[i])


def _broadcast(one, other):
    try:
        return np.broadcast_shapes(one, other)
    except ValueError:
        return None


def _pair(d, *dtypes):
    """Two operands that broadcast, one of them at times a constant: (operands, dtype, shape)."""
    i = d.of(*dtypes)
    dtype, shape = d.there[i]
    if d.flag():
        other_shape = [n if d.flag() else 1 for n in shape[d.integer(0, len(shape)) :]]
        other: Any = d.values(dtype, other_shape)
    else:
        other = d.some(lambda t, s: t == dtype and _broadcast(s, shape) is not None)
    result_shape = _broadcast(
        shape, other.shape if isinstance(other, np.ndarray) else d.there[other][1]
    )
    operands = [i, other] if d.flag() else [other, i]
    return operands, dtype, result_shape


@row
def binary(d):
    operands, dtype, shape = _pair(d, "float32", "float32", "int32", "int64")
    d.add(d.pick(BINARY), operands, (dtype, shape))


@row
def divided(d):
    i = d.of(*NUMBERS)
    dtype, shape = d.there[i]
    divisor = d.values(dtype, shape[-1:])
    divisor = np.where(np.abs(divisor) < 0.5, np.ones((), dtype), divisor)
    kinds = ["RealDiv", "FloorDiv", "FloorMod"] if dtype == "float32" else ["FloorDiv", "FloorMod"]
    d.add(d.pick(kinds), [i, divisor], d.there[i])


@row
def compared(d):
    operands, _, shape = _pair(d, "float32", "int32", "int64")
    d.add(d.pick(COMPARED), operands, ("bool", shape))


@row
def logical(d):
    operands, _, shape = _pair(d, "bool")
    kind = d.pick(["LogicalAnd", "LogicalOr", "LogicalNot"])
    if kind == "LogicalNot":
        i = d.of("bool")
        d.add(kind, [i], d.there[i])
    else:
        d.add(kind, operands, ("bool", shape))


@row
def selected(d):
    i = d.of("bool")
    operands, dtype, shape = _pair(d, "float32", "int32")
    result_shape = _broadcast(d.there[i][1], shape)
    if result_shape is None:
        raise Unfit
    d.add("SelectV2", [i, *operands], (dtype, result_shape))


@row
def cast(d):
    i = d.some()
    to = d.pick([*NUMBERS, "bool"])
    if d.there[i][0] != to:
        d.add("Cast", [i], (to, d.there[i][1]), DstT=np.dtype(to))


@row
def reduced(d):
    kind = d.pick(["Sum", "Mean", "Max", "Min", "Prod", "Any", "All"])
    dtypes = ("bool",) if kind in ("Any", "All") else ("float32", "int32")
    i = d.of(*(dtypes if kind != "Mean" else dtypes[:1]), rank=1)
    dtype, shape = d.there[i]
    axes = [a for a in range(len(shape)) if d.flag()]
    keep = d.flag()
    result_shape = [1 if a in axes else n for a, n in enumerate(shape) if keep or a not in axes]
    axes = [a - len(shape) if d.flag() else a for a in axes]
    d.add(kind, [i, np.int32(axes)], (dtype, result_shape), keep_dims=keep)


@row
def extreme(d):
    i = d.of("float32", "int32", rank=1)
    shape = d.there[i][1]
    a = d.integer(0, len(shape) - 1)
    to = d.pick(INTS)
    result_shape = (to, shape[:a] + shape[a + 1 :])
    d.add(d.pick(["ArgMax", "ArgMin"]), [i, np.int32(a)], result_shape, output_type=np.dtype(to))


@row
def softened(d):
    i = d.of("float32", rank=1)
    d.add(d.pick(["Softmax", "LogSoftmax"]), [i], d.there[i])


@row
def cumulated(d):
    i = d.of("float32", "int32", rank=1)
    a = d.integer(0, len(d.there[i][1]) - 1)
    d.add("Cumsum", [i, np.int32(a)], d.there[i], exclusive=d.flag(), reverse=d.flag())


@row
def reshaped(d):
    i = d.some()
    dtype, shape = d.there[i]
    left, result_shape = prod(shape), []
    while left > 1 and len(result_shape) < 3:
        result_shape.append(d.pick([n for n in range(1, left + 1) if left % n == 0]))
        left //= result_shape[-1]
    result_shape.append(left)
    new_shape = [*result_shape]
    if d.flag() and prod(result_shape):
        new_shape[d.integer(0, len(result_shape) - 1)] = -1
    d.add("Reshape", [i, np.int32(new_shape)], (dtype, result_shape))


@row
def transposed(d):
    i = d.some(lambda dtype, shape: len(shape) >= 2)
    dtype, shape = d.there[i]
    order = d.rng.permutation(len(shape))
    d.add("Transpose", [i, np.int32(order)], (dtype, [shape[a] for a in order]))


@row
def expanded(d):
    i = d.some()
    dtype, shape = d.there[i]
    a = d.integer(0, len(shape))
    d.add("ExpandDims", [i, np.int32(a)], (dtype, (*shape[:a], 1, *shape[a:])))


@row
def squeezed(d):
    i = d.some(lambda dtype, shape: 1 in shape)
    dtype, shape = d.there[i]
    axes = [a for a, n in enumerate(shape) if n == 1 and d.flag()]
    squeezed_axes = axes or [a for a, n in enumerate(shape) if n == 1]
    result_shape = [n for a, n in enumerate(shape) if a not in squeezed_axes]
    d.add("Squeeze", [i], (dtype, result_shape), squeeze_dims=axes)


@row
def joined(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1)
    dtype, shape = d.there[i]
    a = d.integer(0, len(shape) - 1)
    other_sizes = shape[:a] + shape[a + 1 :]
    others = [
        d.some(
            lambda t, s: t == dtype and len(s) == len(shape) and s[:a] + s[a + 1 :] == other_sizes
        )
        for _ in range(d.integer(1, 2))
    ]
    total = sum(d.there[j][1][a] for j in (i, *others))
    d.add("ConcatV2", [i, *others, np.int32(a)], (dtype, (*shape[:a], total, *shape[a + 1 :])))


@row
def packed(d):
    i = d.some()
    dtype, shape = d.there[i]
    others = [d.some(lambda t, s: (t, s) == (dtype, shape)) for _ in range(d.integer(0, 2))]
    a = d.integer(0, len(shape))
    result_shape = (*shape[:a], 1 + len(others), *shape[a:])
    d.add("Pack", [i, *others], (dtype, result_shape), axis=a)


@row
def unpacked(d):
    i = d.some(lambda dtype, shape: 0 < min(shape, default=0) <= 4)
    dtype, shape = d.there[i]
    a = d.pick([a for a, n in enumerate(shape) if n <= 4])
    result_shape = (dtype, shape[:a] + shape[a + 1 :])
    d.add("Unpack", [i], *[result_shape] * shape[a], num=shape[a], axis=a)


@row
def split(d):
    i = d.some(lambda dtype, shape: any(n > 1 for n in shape))
    dtype, shape = d.there[i]
    a = d.pick([a for a, n in enumerate(shape) if n > 1])
    n = d.pick([n for n in range(2, shape[a] + 1) if shape[a] % n == 0])
    result_shape = (dtype, (*shape[:a], shape[a] // n, *shape[a + 1 :]))
    d.add("Split", [np.int32(a), i], *[result_shape] * n, num_split=n)


@row
def sliced(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1)
    dtype, shape = d.there[i]
    begins = [d.integer(0, n - 1) if n else 0 for n in shape]
    sizes = [d.integer(0 if d.integer(0, 9) == 0 else min(1, n), n - b)
             for n, b in zip(shape, begins, strict=True)]  # fmt: skip
    sizes_with_ends = [-1 if b + s == n and d.flag() else s
            for n, b, s in zip(shape, begins, sizes, strict=True)]  # fmt: skip
    d.add("Slice", [i, np.int32(begins), np.int32(sizes_with_ends)], (dtype, sizes))


@row
def strided(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1)
    dtype, shape = d.there[i]
    n_fields = d.integer(1, len(shape))
    begins, ends, steps, shrunk, index = [], [], [], 0, []
    for a in range(n_fields):
        if shape[a] and d.integer(0, 3) == 0:
            at = d.integer(-shape[a], shape[a] - 1)
            begins, ends, steps = [*begins, at], [*ends, at + 1], [*steps, 1]
            shrunk |= 1 << a
            index.append(at)
        else:
            at = slice(d.integer(-9, 9), d.integer(-9, 9), d.pick([1, 1, 2, -1, 3]))
            begins, ends, steps = [*begins, at.start], [*ends, at.stop], [*steps, at.step]
            index.append(at)
    open_begin, open_end = (sum(d.integer(0, 1) << a for a in range(n_fields)) for _ in range(2))
    for a, at in enumerate(index):
        if isinstance(at, slice):
            start = None if open_begin >> a & 1 else at.start
            index[a] = slice(start, None if open_end >> a & 1 else at.stop, at.step)
    result_shape = np.empty(shape)[tuple(index)].shape
    bounds = [np.int32(row) for row in (begins, ends, steps)]
    attrs = {"begin_mask": open_begin & ~shrunk, "end_mask": open_end & ~shrunk}
    d.add("StridedSlice", [i, *bounds], (dtype, result_shape), shrink_axis_mask=shrunk, **attrs)


@row
def padded(d):
    i = d.of(*NUMBERS, rank=1)
    dtype, shape = d.there[i]
    kind = d.pick(["Pad", "PadV2", "MirrorPad"])
    mode = d.pick([b"REFLECT", b"SYMMETRIC"])
    most = [min(n - (mode == b"REFLECT"), 2) if kind == "MirrorPad" else 2 for n in shape]
    if min(most) < 0:
        raise Unfit
    pads = [[d.integer(0, n), d.integer(0, n)] for n in most]
    more = [d.values(dtype, ())] if kind == "PadV2" else []
    result_shape = [n + sum(pad) for n, pad in zip(shape, pads, strict=True)]
    attrs = {"mode": mode} if kind == "MirrorPad" else {}
    d.add(kind, [i, np.int32(pads), *more], (dtype, result_shape), **attrs)


@row
def tiled(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1)
    dtype, shape = d.there[i]
    times = [d.pick([1, 1, 2, 3]) for _ in shape]
    result_shape = [n * t for n, t in zip(shape, times, strict=True)]
    d.add("Tile", [i, np.int32(times)], (dtype, result_shape))


@row
def widened(d):
    i = d.some()
    dtype, shape = d.there[i]
    result_shape = [d.integer(2, 3) if n == 1 else n for n in (*[1] * d.integer(0, 1), *shape)]
    d.add("BroadcastTo", [i, np.int32(result_shape)], (dtype, result_shape))


@row
def gathered(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1 and 0 not in shape)
    dtype, shape = d.there[i]
    a = d.integer(0, len(shape) - 1)
    at = d.rng.integers(0, shape[a], d.shape(d.integer(0, 2))).astype(np.int32)
    d.add("GatherV2", [i, at, np.int32(a)], (dtype, (*shape[:a], *at.shape, *shape[a + 1 :])))


@row
def picked(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1 and 0 not in shape)
    dtype, shape = d.there[i]
    depth = d.integer(1, len(shape))
    rows = d.shape(1)
    at = np.stack([d.rng.integers(0, n, rows) for n in shape[:depth]], -1).astype(np.int32)
    d.add("GatherNd", [i, at], (dtype, (*rows, *shape[depth:])))


@row
def reversed_(d):
    i = d.some(lambda dtype, shape: len(shape) >= 1)
    axes = [a for a in range(len(d.there[i][1])) if d.flag()]
    d.add("ReverseV2", [i, np.int32(axes)], d.there[i])


@row
def hot(d):
    i = d.of("int32")
    shape = d.there[i][1]
    depth = d.integer(1, 4)
    on, off = d.values("float32", (2,))
    d.add("OneHot", [i, np.int32(depth), on, off], ("float32", (*shape, depth)), axis=-1)


@row
def largest(d):
    i = d.some(lambda dtype, shape: dtype == "float32" and len(shape) >= 1 and shape[-1] > 0)
    dtype, shape = d.there[i]
    k = d.integer(1, shape[-1])
    result_shape = (*shape[:-1], k)
    d.add("TopKV2", [i, np.int32(k)], (dtype, result_shape), ("int32", result_shape))


@row
def multiplied(d):
    i = d.of("float32", rank=2)
    _, shape = d.there[i]
    width = d.pick(SIZES)
    if len(shape) == 2:
        flip, other = d.flag(), d.flag()
        inner = shape[0] if flip else shape[1]
        w = d.values("float32", (width, inner) if other else (inner, width))
        result_shape = (shape[1] if flip else shape[0], width)
        d.add("MatMul", [i, w], ("float32", result_shape), transpose_a=flip, transpose_b=other)
    else:
        other = d.flag()
        lead = shape[:-2] if d.flag() else ()
        w = d.values("float32", (*lead, *((width, shape[-1]) if other else (shape[-1], width))))
        d.add("BatchMatMulV2", [i, w], ("float32", (*shape[:-1], width)), adj_y=other)


@row
def convolved(d):
    i = d.some(lambda dtype, shape: dtype == "float32" and len(shape) == 4 and 0 not in shape)
    _, (n, h, w, c) = d.there[i]
    size, stride, width = d.integer(1, 3), d.integer(1, 2), d.integer(1, 4)
    same = d.flag()
    if not same and min(h, w) < size:
        raise Unfit
    sides = [-(-m // stride) if same else (m - size) // stride + 1 for m in (h, w)]
    attrs = {"strides": [1, stride, stride, 1], "padding": b"SAME" if same else b"VALID"}
    kind = d.pick(["Conv2D", "MaxPool", "AvgPool", "DepthwiseConv2dNative"])
    if kind in ("MaxPool", "AvgPool"):
        d.add(kind, [i], ("float32", (n, *sides, c)), ksize=[1, size, size, 1], **attrs)
    else:
        depthwise = kind != "Conv2D"
        filters = d.values("float32", (size, size, c, width))
        d.add(
            kind, [i, filters], ("float32", (n, *sides, c * width if depthwise else width)), **attrs
        )


@row
def counted(d):
    """Sizes as tensors."""
    i = d.some(lambda dtype, shape: len(shape) >= 1)
    d.add("Shape", [i], ("int32", (len(d.there[i][1]),)), out_type=np.dtype(np.int32))


def function(rng: np.random.Generator) -> Drawn:
    """Two to eight operations on one to three inputs."""
    d = Draw(rng)
    rank = d.pick([1, 2, 2, 3, 4])
    for _ in range(d.integer(1, 3)):
        d.input(d.pick(["float32", "float32", "int32", "bool"]), d.shape(rank))
    d.input("float32", d.there[0][1])
    expected = d.integer(2, 8)
    for _ in range(80):
        if len(d.steps) >= expected:
            break
        try:
            d.pick(ROWS)(d)
        except Unfit:
            continue
    return d.finish() if d.steps else function(rng)
