"""StableHLO's operators that TensorFlow's operations say."""

import numpy as np

from ...graph.core.build import number, ops
from .registry import raise_rows, raises

raise_rows("""
STABLEHLO_ABS Abs
STABLEHLO_ADD AddV2
STABLEHLO_COSINE Cos
STABLEHLO_EXPONENTIAL Exp
STABLEHLO_FLOOR Floor
STABLEHLO_LOG Log
STABLEHLO_LOGISTIC Sigmoid
STABLEHLO_MAXIMUM Maximum
STABLEHLO_MINIMUM Minimum
STABLEHLO_MULTIPLY Mul
STABLEHLO_NEGATE Neg
STABLEHLO_POWER Pow
STABLEHLO_RSQRT Rsqrt
STABLEHLO_SELECT SelectV2
STABLEHLO_SUBTRACT Sub
STABLEHLO_TANH Tanh
""")

COMPARISONS = {
    "STABLEHLO_COMPARISON_DIRECTION_EQ": ops.Equal,
    "STABLEHLO_COMPARISON_DIRECTION_NE": ops.NotEqual,
    "STABLEHLO_COMPARISON_DIRECTION_GE": ops.GreaterEqual,
    "STABLEHLO_COMPARISON_DIRECTION_GT": ops.Greater,
    "STABLEHLO_COMPARISON_DIRECTION_LE": ops.LessEqual,
    "STABLEHLO_COMPARISON_DIRECTION_LT": ops.Less,
}


@raises("STABLEHLO_AND", "STABLEHLO_OR")
def logic(node, x, y):
    """Of booleans, or of the bits of integers."""
    is_and = node.kind == "STABLEHLO_AND"
    if x.dtype == np.bool_:
        return ops.LogicalAnd(x, y) if is_and else ops.LogicalOr(x, y)
    return ops.BitwiseAnd(x, y) if is_and else ops.BitwiseOr(x, y)


@raises("STABLEHLO_COMPARE")
def compare(node, x, y):
    """A comparison."""
    is_total = node.option("StablehloComparisonType", "compare_type").endswith("TOTAL_ORDER")
    node.require(not is_total or x.dtype.kind in "biu", "floats must not be in a total order")
    name = node.option("StablehloComparisonDirection", "comparison_direction")
    if x.dtype == np.bool_ and not name.endswith(("EQ", "NE")):
        x, y = (ops.Cast(operand, DstT=np.uint8) for operand in (x, y))
    return COMPARISONS[name](x, y)


@raises("STABLEHLO_DIVIDE")
def divide(node, x, y):
    """A quotient; of integers without its fraction, and all bits where y is 0."""
    if x.dtype.kind in "fc":
        return ops.RealDiv(x, y)
    divisor, is_zero = divisible(node, y)
    quotient, all_bits = ops.Div(x, divisor), -1 if y.dtype.kind == "i" else np.iinfo(y.dtype).max
    return quotient if is_zero is None else ops.SelectV2(is_zero, number(all_bits, y), quotient)


def divisible(node, y):
    """Integers to divide by, 1 in the place of 0, and where they are 0; None where none is."""
    known = node.known(1)
    if known is not None and known.all():
        return y, None
    is_zero = ops.Equal(y, number(0, y))
    return ops.SelectV2(is_zero, ops.OnesLike(y), y), is_zero


@raises("STABLEHLO_REMAINDER")
def remainder(node, x, y):
    """The remainder with the sign of x; x where an integer y is 0."""
    if x.dtype.kind not in "iu":
        return ops.TruncateMod(x, y)
    divisor, is_zero = divisible(node, y)
    if x.dtype.itemsize >= 4:
        result = ops.TruncateMod(x, divisor)
    else:
        wide = (ops.Cast(operand, DstT=np.int32) for operand in (x, divisor))
        result = ops.Cast(ops.TruncateMod(*wide), DstT=x.dtype)
    return result if is_zero is None else ops.SelectV2(is_zero, x, result)


@raises("STABLEHLO_CONVERT")
def convert(node, x):
    """Another type."""
    return ops.Cast(x, DstT=node.result_dtype())


@raises("STABLEHLO_CLAMP")
def clamp(node, low, x, high):
    """`x` within two limits."""
    return ops.Minimum(ops.Maximum(x, low), high)


@raises("STABLEHLO_CONCATENATE")
def concatenate(node, *parts):
    """The operands one after another."""
    if len(parts) == 1:
        return ops.Identity(parts[0])
    return ops.ConcatV2(parts, np.int32(node.options.dimension))


@raises("STABLEHLO_TRANSPOSE")
def transpose(node, x):
    """Axes in another order."""
    return ops.Transpose(x, np.asarray(node.options.permutation, np.int32))


@raises("STABLEHLO_RESHAPE")
def reshape(node, x):
    """The same elements in the shape of the result."""
    tensor = node.op.output
    node.require(tensor.is_static, f"the result's shape must be known, got {tensor.shape}")
    return ops.Reshape(x, np.array(tensor.shape, np.int32))


@raises("STABLEHLO_SLICE")
def slice_(node, x):
    """Every n-th element between two limits."""
    options = node.options
    names = ("start_indices", "limit_indices", "strides")
    return ops.StridedSlice(x, *(np.asarray(getattr(options, name), np.int32) for name in names))


@raises("STABLEHLO_IOTA")
def iota(node):
    """Numbers that count along an axis."""
    tensor = node.op.output
    node.require(tensor.is_static, f"the result's shape must be known, got {tensor.shape}")
    axis, shape = int(node.options.iota_dimension), tensor.shape
    line = np.arange(shape[axis]).astype(tensor.dtype)
    line = line.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return ops.Identity(np.ascontiguousarray(np.broadcast_to(line, shape)))


@raises("STABLEHLO_BROADCAST_IN_DIM")
def broadcast_in_dim(node, x):
    """`x` repeated along new axes, and along those of 1."""
    tensor = node.op.output
    node.require(tensor.is_static, f"the result's shape must be known, got {tensor.shape}")
    axes = [int(axis) for axis in node.options.broadcast_dimensions]
    shape = [1] * len(tensor.shape)
    for axis, n in zip(axes, node.sizes(0), strict=True):
        shape[axis] = n
    return ops.BroadcastTo(
        ops.Reshape(x, np.array(shape, np.int32)), np.array(tensor.shape, np.int32)
    )


@raises("STABLEHLO_CBRT")
def cbrt(node, x):
    """The cube root, with the sign of x."""
    return ops.Sign(x) * ops.Pow(ops.Abs(x), number(1 / 3, x))


@raises("STABLEHLO_SHIFT_LEFT")
def shift_left(node, x, by):
    """Bits moved up; 0 where none is left."""
    bits = np.array(8 * x.dtype.itemsize, x.dtype)
    inside = ops.LogicalAnd(ops.Less(by, bits), ops.GreaterEqual(by, number(0, by)))
    return ops.SelectV2(inside, ops.LeftShift(x, by), ops.ZerosLike(x))


@raises("STABLEHLO_PAD")
def pad(node, x, value):
    """Elements between those of `x` and around them; less of them by negative numbers."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    low, high, between = (np.asarray(getattr(node.options, name), np.int32) for name in names)
    sizes, value = list(node.weight_sizes(0)), ops.Reshape(value, np.zeros(0, np.int32))
    for axis in np.flatnonzero(between):
        x = spread(x, sizes, int(axis), int(between[axis]), value)
    if (low > 0).any() or (high > 0).any():
        x = ops.PadV2(x, np.stack([np.maximum(low, 0), np.maximum(high, 0)], 1), value)
    if (low < 0).any() or (high < 0).any():
        begin = np.maximum(-low, 0)
        padded_sizes = np.maximum(low + np.array(sizes, np.int32) + high, 0).astype(np.int32)
        x = ops.Slice(x, begin, padded_sizes)
    return x


def spread(x, sizes, axis, n, value):
    """`x` with `n` times a value between its elements along an axis, whose size becomes that."""
    before, after = sizes[:axis], sizes[axis + 1 :]
    x = ops.ExpandDims(x, np.int32(axis + 1))
    pairs = np.zeros((len(sizes) + 1, 2), np.int32)
    pairs[axis + 1, 1] = n
    whole = [*before, sizes[axis] * (n + 1), *after]
    x = ops.Reshape(ops.PadV2(x, pairs, value), np.array(whole, np.int32))
    sizes[axis] = max((sizes[axis] - 1) * (n + 1) + 1, 0)
    return ops.Slice(x, np.zeros(len(sizes), np.int32), np.array(sizes, np.int32))


def beginning(node, starts, sizes):
    """Where a slice of these sizes begins, moved so far that it fits; `starts` are scalars."""
    last = np.array(node.weight_sizes(0), np.int32) - np.asarray(sizes, np.int32)
    begin = ops.Pack([ops.Cast(start, DstT=np.dtype(np.int32)) for start in starts], axis=0)
    return ops.Maximum(ops.Minimum(begin, last), np.int32(0))


@raises("STABLEHLO_DYNAMIC_SLICE")
def dynamic_slice(node, x, *starts):
    """A slice of fixed sizes."""
    sizes = np.asarray(node.options.slice_sizes, np.int32)
    return ops.Slice(x, beginning(node, starts, sizes), sizes) if len(sizes) else ops.Identity(x)


@raises("STABLEHLO_DYNAMIC_UPDATE_SLICE")
def dynamic_update_slice(node, x, update, *starts):
    """`x` with `update` in it."""
    sizes = np.array(node.weight_sizes(1), np.int32)
    if not len(sizes):
        return ops.Identity(update)
    begin = beginning(node, starts, sizes)
    return ops.TensorStridedSliceUpdate(x, begin, begin + sizes, np.ones_like(sizes), update)


@raises("STABLEHLO_DOT_GENERAL")
def dot_general(node, x, y):
    """Sums of products, as a formula: batching axes, then the others of the left and the right."""
    options, letters = node.options, iter("abcdefghijklmnopqrstuvwxyz")
    names = [[""] * len(node.sizes(i)) for i in (0, 1)]
    shared = []
    for what in ("batching", "contracting"):
        pair = (getattr(options, f"{side}_{what}_dimensions") for side in ("lhs", "rhs"))
        letter_list = []
        for left, right in zip(*(() if axes is None else axes for axes in pair), strict=True):
            names[0][int(left)] = names[1][int(right)] = next(letters)
            letter_list.append(names[0][int(left)])
        shared.append(letter_list)
    others = []
    for side in names:
        free_axes = [i for i, name in enumerate(side) if not name]
        for i in free_axes:
            side[i] = next(letters)
        others += [side[i] for i in free_axes]
    formula = f"{''.join(names[0])},{''.join(names[1])}->{''.join([*shared[0], *others])}"
    return ops.Einsum([x, y], equation=formula)


FOLDS = {
    "ADD": (ops.Sum, ops.AddV2),
    "MAXIMUM": (ops.Max, ops.Maximum),
    "MINIMUM": (ops.Min, ops.Minimum),
    "MULTIPLY": (ops.Prod, ops.Mul),
    "MUL": (ops.Prod, ops.Mul),
}
"""What the only operator of a body is -> what folds axes so, and what adds the start."""


@raises("STABLEHLO_REDUCE")
def reduce(node, *operands):
    """Axes folded by a body of one operator, from a start."""
    (body,) = node.op.graphs
    kind = body.ops[0].kind.removeprefix("STABLEHLO_") if len(body.ops) == 1 else ""
    node.require(
        len(operands) == 2 and kind in FOLDS,
        f"the body must be one of {', '.join(FOLDS)} on one operand",
    )
    x, start = operands
    fold, join = FOLDS[kind]
    axes = [] if node.options.dimensions is None else node.options.dimensions
    return join(fold(x, np.asarray(axes, np.int32)), start)
