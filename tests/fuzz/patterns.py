"""What the converter's passes look for: chains they shorten, and chains that only look like them.

Each function appends operators to a graph and gives the index of its result. Constants are the
formula's own or, now and then, others; shapes are those that allow a rewrite and those that do not.
"""

from __future__ import annotations

from math import prod

import numpy as np

from .drawing import Draw

FLOAT = "float32"
LIMITS = (0.0, 1.0, 6.0, -1.0, 3.0)


def unary(d: Draw, op, x, **options):
    """A result of the operand's shape."""
    out = d.like(x)
    d.add(op, [x], [out], **options)
    return out


def binary(d: Draw, op, a, b, **options):
    """A result of the shape both broadcast to; sometimes with the operands in the other order."""
    out = d.tensor(FLOAT, np.broadcast_shapes(d.at(a).shape, d.at(b).shape))
    d.add(op, [b, a] if op in ("ADD", "MUL") and d.flag() else [a, b], [out], **options)
    return out


def scalar(d: Draw, value):
    """A constant of one element; one in eight is another number."""
    if d.chance(0.125):
        value = d.pick([value + 0.25, -value, 2 * value, 0.0, 1.0])
    return d.known(np.full(d.pick([(), (), (1,), (1, 1)]), value), FLOAT, 0)


def along(d: Draw, x):
    """A constant of one number, one for each of the last dimension, or the whole shape."""
    shape = d.at(x).shape
    operand_shape = d.pick([(), (1,), shape[-1:], shape[-1:], shape[-1:], shape, (*shape[:-1], 1)])
    return d.constant(FLOAT, operand_shape)


def affine(d: Draw, x):
    """A scale and an offset, one or both: batch normalisation."""
    for op in d.pick(
        [("MUL", "ADD"), ("SUB", "MUL"), ("ADD",), ("MUL",), ("DIV",), ("ADD", "MUL")]
    ):
        y = along(d, x)
        if op == "DIV":
            tensor = d.at(y)
            tensor.data = np.asarray(np.abs(tensor.data) + 0.5, np.float32)
        x = binary(d, op, x, y)
    return x


def activation(d: Draw, x):
    """Something that can be fused, as one operator or as a clipping."""
    if d.flag():
        return unary(d, d.pick(["RELU", "RELU6", "RELU_N1_TO_1", "RELU_0_TO_1"]), x)
    for op in d.pick([("MAXIMUM", "MINIMUM"), ("MINIMUM", "MAXIMUM"), ("MAXIMUM",), ("MINIMUM",)]):
        x = binary(d, op, x, scalar(d, d.pick(LIMITS)))
    return x


def hard_swish(d: Draw, x):
    """x * relu6(x + 3) / 6"""
    gate = unary(d, "RELU6", binary(d, "ADD", x, scalar(d, 3.0)))
    if d.flag():
        return binary(d, "MUL", binary(d, "MUL", x, gate), scalar(d, 1 / 6))
    return binary(d, "MUL", x, binary(d, "MUL", gate, scalar(d, 1 / 6)))


def gelu(d: Draw, x):
    """x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x ** 3)))"""
    cube = binary(d, "MUL", binary(d, "MUL", x, x), x)
    inner = binary(d, "ADD", x, binary(d, "MUL", cube, scalar(d, 0.044715)))
    gate = unary(d, "TANH", binary(d, "MUL", inner, scalar(d, (2 / np.pi) ** 0.5)))
    half = binary(d, "MUL", x, scalar(d, 0.5))
    return binary(d, "MUL", half, binary(d, "ADD", gate, scalar(d, 1.0)))


def leaky(d: Draw, x):
    """max(x, alpha * x)"""
    alpha = d.pick([0.1, 0.3, 1.5, -0.2])
    scaled = binary(d, "MUL", x, scalar(d, alpha))
    return binary(d, d.pick(["MAXIMUM", "MAXIMUM", "MINIMUM"]), x, scaled)


def prelu(d: Draw, x):
    """relu(x) - alpha * relu(-x)"""
    below = unary(d, "RELU", unary(d, "NEG", x))
    scaled = binary(d, "MUL", below, along(d, x))
    above = unary(d, "RELU", x)
    return binary(d, d.pick(["SUB", "ADD"]), above, scaled)


def mean(d: Draw, x, op="SUM"):
    """A sum over some dimensions, divided by their number."""
    rank = len(d.at(x).shape)
    axes = sorted({d.integer(0, rank - 1) for _ in range(d.integer(1, 2))}) if rank else []
    keep_dims = d.flag()
    shape = d.at(x).shape
    expected = [1 if i in axes else n for i, n in enumerate(shape) if keep_dims or i not in axes]
    out = d.like(x, expected)
    d.add(op, [x, d.known(np.array(axes, np.int32), at_run_time=0)], [out], keep_dims=keep_dims)
    if op == "SUM":
        return binary(d, "MUL", out, scalar(d, 1 / max(1, prod(shape[i] for i in axes))))
    return out


def norm(d: Draw, x):
    """(x - mean) / sqrt(mean of squares), L2 normalisation, or a squared difference."""
    rank = len(d.at(x).shape)
    if not rank:
        return x
    axes, shape = d.known([rank - 1], at_run_time=0), (*d.at(x).shape[:-1], 1)
    y = x
    if d.flag():
        average = d.like(x, shape)
        d.add("MEAN", [x, axes], [average], keep_dims=True)
        y = binary(d, "SUB", x, average)
    square = unary(d, "SQUARE", y) if d.flag() else binary(d, "MUL", y, y)
    total = d.like(x, shape)
    d.add(d.pick(["SUM", "MEAN"]), [square, axes], [total], keep_dims=True)
    guarded = binary(d, d.pick(["ADD", "MAXIMUM"]), total, scalar(d, d.pick([1e-12, 1e-6, 1e-3])))
    if d.flag():
        return binary(d, "MUL", y, unary(d, "RSQRT", guarded))
    return binary(d, "DIV", y, unary(d, "SQRT", guarded))


def reshaped(d: Draw, x):
    """To another shape: flat, with ones, with dimensions merged."""
    shape = d.at(x).shape
    expected = d.pick([(prod(shape),), (1, *shape), (*shape, 1), shape[::-1], _merged(d, shape)])
    expected = expected if len(expected) <= 5 else (prod(shape),)
    out = d.like(x, expected)
    d.add("RESHAPE", [x, d.known(np.array(expected, np.int32), at_run_time=0)], [out])
    return out


def _merged(d, shape):
    if len(shape) < 2:
        return shape
    i = d.integer(0, len(shape) - 2)
    return (*shape[:i], shape[i] * shape[i + 1], *shape[i + 2 :])


def transposed(d: Draw, x):
    """Dimensions in another order; images often from and to channels first."""
    rank = len(d.at(x).shape)
    order = d.rng.permutation(rank).tolist()
    if rank == 4 and d.flag():
        order = d.pick([[0, 3, 1, 2], [0, 2, 3, 1]])
    out = d.like(x, [d.at(x).shape[i] for i in order])
    d.add("TRANSPOSE", [x, d.known(np.array(order, np.int32), at_run_time=0)], [out])
    return out


def padded(d: Draw, x):
    """Zeros around, or other numbers."""
    widths = np.array([[d.integer(0, 2) if d.flag() else 0 for _ in "ab"] for _ in d.at(x).shape])
    if len(d.at(x).shape) == 4 and d.chance(0.7):
        widths[[0, 3]] = 0
    expected = [n + int(sum(w)) for n, w in zip(d.at(x).shape, widths, strict=True)]
    out, operands = d.like(x, expected), [x, d.known(widths.reshape(-1, 2), at_run_time=0)]
    if d.chance(0.3):
        d.add("PADV2", [*operands, scalar(d, d.pick([0.0, 0.0, 1.0]))], [out])
    else:
        d.add("PAD", operands, [out])
    return out


def dilated(d: Draw, x):
    """SPACE_TO_BATCH_ND, a convolution and BATCH_TO_SPACE_ND."""
    shape = d.at(x).shape
    if len(shape) != 4 or 0 in shape or max(shape[1:3]) > 12:
        return x
    block, taps, c = [d.integer(1, 3), d.integer(1, 3)], d.integer(1, 3), shape[3]
    sides, crops, sizes = [], [], []
    for n, b in zip(shape[1:3], block, strict=True):
        before = d.integer(0, 2)
        after = -(n + before) % b + b * d.integer(0, 1)
        sides.append([before, after])
        sizes.append((n + before + after) // b - taps + 1)
        most = max(sizes[-1] * b - 1, 0)
        crops.append([0, min(d.pick([0, after % b]), most)])
    if min(sizes) < 1:
        return x
    spread = d.like(x, (shape[0] * prod(block), *(s + taps - 1 for s in sizes), c))
    known = [d.known(v, at_run_time=0) for v in (block, sides, crops)]
    d.add("SPACE_TO_BATCH_ND", [x, known[0], known[1]], [spread])
    deep, out = d.flag(), d.pick([c, 2 * c])
    weights = d.constant(FLOAT, (1, taps, taps, out) if deep else (out, taps, taps, c))
    mixed = d.like(x, (shape[0] * prod(block), *sizes, out))
    more = {"depth_multiplier": out // c} if deep else {}
    d.add("DEPTHWISE_CONV_2D" if deep else "CONV_2D", [spread, weights, -1], [mixed],
          padding="VALID", stride_h=1, stride_w=1, **more)  # fmt: skip
    inner = [s * b - sum(crop) for s, b, crop in zip(sizes, block, crops, strict=True)]
    joined = d.like(x, (shape[0], *inner, out))
    d.add("BATCH_TO_SPACE_ND", [mixed, known[0], known[2]], [joined])
    return joined


def joined(d: Draw, x):
    """A split that is put together again, in order or not."""
    shape = d.at(x).shape
    axes = [i for i, n in enumerate(shape) if n > 1]
    if not axes:
        return x
    axis = d.pick(axes)
    count = d.pick([n for n in range(2, shape[axis] + 1) if shape[axis] % n == 0])
    part_shape = (*shape[:axis], shape[axis] // count, *shape[axis + 1 :])
    parts = [d.like(x, part_shape) for _ in range(count)]
    d.add("SPLIT", [d.known(axis, at_run_time=0), x], parts, num_splits=count)
    again = parts[::-1] if d.chance(0.2) else parts[: d.pick([count, count, count - 1])]
    expected = (*shape[:axis], part_shape[axis] * len(again), *shape[axis + 1 :])
    out = d.like(x, expected)
    d.add("CONCATENATION", again, [out], axis=axis)
    return out


def product(d: Draw, x):
    """A matrix product by a constant, as FULLY_CONNECTED or BATCH_MATMUL."""
    shape = d.at(x).shape
    if len(shape) < 2 or 0 in shape:
        return x
    adjoint, out = d.flag(), d.pick([1, 3, shape[-1]])
    y = d.constant(FLOAT, (out, shape[-1]) if adjoint else (shape[-1], out))
    output = d.like(x, (*shape[:-1], out))
    d.add("BATCH_MATMUL", [x, y], [output], adj_y=adjoint)
    return output


def repeated(d: Draw, x):
    """Repeated to a larger shape before an operator that does so by itself."""
    shape = d.at(x).shape
    expected = (2, *shape) if len(shape) < 4 else shape
    out = d.like(x, expected)
    d.add("BROADCAST_TO", [x, d.known(np.array(expected, np.int32), at_run_time=0)], [out])
    return binary(d, d.pick(["ADD", "MUL", "SUB"]), out, d.x(FLOAT, shape=expected))


def difference(d: Draw, x):
    """A squared difference, or an operator that undoes another."""
    if d.flag():
        y = binary(d, "SUB", x, d.x(FLOAT, shape=d.at(x).shape))
        return unary(d, "SQUARE", y) if d.flag() else binary(d, "MUL", y, y)
    return (
        unary(d, "NEG", unary(d, "NEG", x)) if d.flag() else binary(d, "ADD", unary(d, "NEG", x), x)
    )


PATTERNS = (
    *(affine, affine, activation, hard_swish, gelu, leaky, prelu, mean, norm, reshaped, reshaped),
    *(transposed, transposed, padded, dilated, joined, product, repeated, difference),
)
