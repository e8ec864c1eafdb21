"""Ops that change nothing go; constants that meet are computed together."""

from __future__ import annotations

import numpy as np

from ..ir.graph import Graph, Op, Tensor
from ..ir.prepare import SMALL
from ..ir.pseudo import having
from .driver import rewrite
from .rewrite import (
    BINARY,
    COMMUTATIVE,
    NONE,
    REDUCTIONS,
    RESHAPES,
    activation_of,
    builder,
    constant_of,
    is_float,
    may_learn,
    names,
    producer_of,
    same_shape,
    split_constant,
    swap,
)

SELECT_RANK = 4  # of what LiteRT's SELECT_V2 broadcasts
NEUTRAL = {
    "ADD": 0,
    "SUB": 0,
    "MUL": 1,
    "DIV": 1,
    "POW": 1,
    "LOGICAL_AND": True,
    "LOGICAL_OR": False,
    "MAXIMUM": -np.inf,
    "MINIMUM": np.inf,
}
"""The constant that changes nothing, on the right or (ADD, MUL, MAXIMUM, logic) on either side."""

CLIPS = {
    "RELU6": ("RELU6",),
    "RELU_N1_TO_1": ("RELU_N1_TO_1",),
    "FLOOR": ("FLOOR", "CEIL", "ROUND"),
    "CEIL": ("FLOOR", "CEIL", "ROUND"),
    "ROUND": ("FLOOR", "CEIL", "ROUND"),
}
"""Ops that change nothing after those listed."""

NOT_NEGATIVE = names(
    "ABS EXP LOGISTIC RELU RELU6 RELU_0_TO_1 SOFTMAX SQRT SQUARE SQUARED_DIFFERENCE"
)
"""Ops whose results are not negative."""
KEEPS_SIGN = names("BROADCAST_TO MEAN REDUCE_MAX REDUCE_MIN RESHAPE SUM TRANSPOSE")
"""Ops whose results are not negative where their first input is not."""

PARTS = ("REAL", "IMAG")
"""Operators that take the parts of complex numbers out of them, the real ones first."""

OPPOSITE = {"NEG": "NEG", "LOGICAL_NOT": "LOGICAL_NOT"}

_GROUP = {"ADD": "ADD", "SUB": "ADD", "MUL": "MUL", "DIV": "MUL"}


@rewrite()
def remove_identities(graph: Graph, op: Op) -> bool:
    """Drops ops that give their input back.

        x -> MUL(1) -> y      becomes      y = x

    RESHAPE, BROADCAST_TO, TILE, SLICE, STRIDED_SLICE, PAD, TRANSPOSE, SUM over nothing and the like
    where they leave shape and order alone; CAST to the same type; ADD of 0, MUL by 1; RELU of what
    is not negative; NEG of NEG; REAL and IMAG of the complex numbers that BITCAST makes of a PACK
    of their parts. Holds off when unknown dimensions are not certainly equal, on a
    fused activation, and on quantized tensors.
    """
    return _removed(graph, op)


@rewrite()
def remove_all_but_weights(graph: Graph, op: Op) -> bool:
    """Drops ops that give their input back, but weights that do so at first.

        x -> MUL(1) -> y      becomes      y = x

    Holds off as `remove_identities`, and on constants of several real numbers: a bias of zeros is
    one that will learn.
    """
    parts = split_constant(op) if op.kind in NEUTRAL else None
    return (parts is None or not may_learn(parts[1])) and _removed(graph, op)


def _removed(graph: Graph, op: Op) -> bool:
    x = _unchanged(op)
    if x is None or x.dtype != op.output.dtype or not same_shape(x, op.output):
        return False
    if activation_of(op) != NONE or x.quantization or op.output.quantization:
        return False
    swap(graph, op, x)
    return True


def _unchanged(op: Op) -> Tensor | None:
    """The input that `op` gives back, if its shape is that of the result; None otherwise."""
    if op.kind in SAME_IF_SHAPE:
        x = op.inputs[0]
        return x if SAME_IF_SHAPE[op.kind](op) else None
    if op.kind == "SELECT_V2":
        condition = constant_of(op.inputs[0])
        if condition is None or not condition.size or np.any(condition != condition.flat[0]):
            return None
        return op.inputs[1 if condition.flat[0] else 2]
    if op.kind == "LEAKY_RELU":
        return op.inputs[0] if op.options.alpha == 1 else None
    if op.kind in ("CONCATENATION", "ADD_N"):
        return op.inputs[0] if len(op.inputs) == 1 else None
    if op.kind in CLIPS and producer_of(op.inputs[0], *CLIPS[op.kind]):
        return op.inputs[0]
    if op.kind in ("ABS", "RELU") and _is_not_negative(op.inputs[0]):
        return op.inputs[0]
    if op.kind in OPPOSITE:
        inner = producer_of(op.inputs[0], OPPOSITE[op.kind])
        return None if inner is None else inner.inputs[0]
    if op.kind in PARTS:
        return _part(op)
    if op.kind in NEUTRAL:
        parts = split_constant(op)
        if parts is None or (parts[2] == 0 and op.kind not in COMMUTATIVE):
            return None
        return parts[0] if np.all(parts[1] == NEUTRAL[op.kind]) else None
    return None


def _is_not_negative(tensor: Tensor) -> bool:
    """Whether floats are certainly not below 0."""
    op = tensor.producer
    while op is not None and op.kind in KEEPS_SIGN:
        op = op.inputs[0].producer
    return op is not None and op.kind in NOT_NEGATIVE and is_float(tensor)


def _part(op: Op) -> Tensor | None:
    """The real or imaginary parts that complex numbers were made of."""
    number = producer_of(op.inputs[0], "BITCAST")
    pairs = None if number is None else producer_of(number.inputs[0], "PACK")
    if pairs is None or len(pairs.inputs) != 2 or op.inputs[0].dtype != np.complex64:
        return None
    is_last = pairs.options.axis in (-1, (pairs.output.rank or 0) - 1)
    return pairs.inputs[PARTS.index(op.kind)] if is_last else None


def _slice_is_whole(op: Op) -> bool:
    """Whether a SLICE of the shape of its input takes all of it at every size."""
    x, _, extent = op.inputs
    if x.is_static or x.rank is None:
        return x.is_static
    sizes = extent.value
    return sizes is not None and all(
        n is not None or size == -1 for n, size in zip(x.dims, sizes, strict=True)
    )


def _strided_slice_is_whole(op: Op) -> bool:
    """Whether a STRIDED_SLICE of the shape of its input takes all of it at every size.

    `x[:3]` is whole where the unknown dimension happens to be less: an end there must be masked.
    """
    x, options = op.inputs[0], op.options
    strides = op.inputs[3].value
    if strides is None or np.any(strides <= 0):
        return False
    if x.is_static or x.rank is None:
        return x.is_static
    open_ended = options.begin_mask & options.end_mask
    return not (options.ellipsis_mask | options.new_axis_mask | options.shrink_axis_mask) and all(
        n is not None or i >= len(strides) or open_ended >> i & 1 for i, n in enumerate(x.dims)
    )


def _in_order(op: Op) -> bool:
    order = constant_of(op.input(1))
    return order is not None and list(order) == list(range(len(order)))


def _reverse_is_identity(op: Op) -> bool:
    """Whether the axes have one element each, or `x` has none, which LiteRT's kernel dies of."""
    x, axes = op.inputs[0], constant_of(op.inputs[1])
    if axes is None or x.shape is None:
        return False
    return 0 in x.shape or all(x.shape[axis] == 1 for axis in axes.ravel())


SAME_IF_SHAPE = {
    "BROADCAST_TO": lambda op: True,
    "CAST": lambda op: True,
    **dict.fromkeys(REDUCTIONS, lambda op: True),
    "EXPAND_DIMS": lambda op: True,
    "MIRROR_PAD": lambda op: True,
    "PAD": lambda op: True,
    "PADV2": lambda op: True,
    "RESHAPE": lambda op: True,
    "REVERSE_V2": _reverse_is_identity,
    "SLICE": _slice_is_whole,
    "SQUEEZE": lambda op: True,
    "STRIDED_SLICE": _strided_slice_is_whole,
    "TILE": lambda op: True,
    "TRANSPOSE": _in_order,
}
"""Ops that give their first input back when the result has its shape, and what else must hold."""


@rewrite(*COMMUTATIVE)
def order_operands(graph: Graph, op: Op) -> bool:
    """Puts the constant of a commutative op second, where all passes and kernels expect it.

    c, x -> ADD -> y      becomes      x, c -> ADD -> y
    """
    first, second = op.inputs
    if first.is_constant and not second.is_constant:
        op.set_input(0, second)
        op.set_input(1, first)
        return True
    return False


@rewrite("CAST")
def merge_casts(graph: Graph, op: Op) -> bool:
    """Leaves out a CAST that loses nothing before another one.

    x:f32 -> CAST -> y:f64 -> CAST -> z:i32      becomes      x:f32 -> CAST -> z:i32
    """
    before = producer_of(op.inputs[0], "CAST")
    if before is None or before.output.quantization is not None:
        return False
    x, y = before.inputs[0], before.output
    if x.quantization is not None or {x.dtype.kind, y.dtype.kind} - set("biuf"):
        return False
    if not np.can_cast(x.dtype, y.dtype, "safe"):
        return False
    op.set_input(0, x)
    return True


SWALLOWING = 2.0**24
"""A number of float32 to which adding 1 changes nothing."""


@rewrite(*_GROUP)
def merge_constants(graph: Graph, op: Op) -> bool:
    """Computes two constants that follow each other.

        x -> MUL(a) -> y -> MUL(b) -> z      becomes      x -> MUL(a * b) -> z
        x -> ADD(a) -> y -> ADD(b) -> z      becomes      x -> ADD(a + b) -> z

    SUB and DIV by a constant count as ADD and MUL. Holds off when y has another reader or is an
    output, on fused activations in between, on integers, on what sizes are computed with, when the
    product is not finite, when b takes back an a that swallows x, as masks of -1e9 do, and when the
    merged constant would be larger than both.
    """
    outer = _term(op)
    if outer is None:
        return False
    y, value = outer
    inner_op = producer_of(y, *_GROUP)
    if inner_op is None or _GROUP[inner_op.kind] != _GROUP[op.kind]:
        return False
    inner = _term(inner_op)
    if inner is None or graph.sole_reader(y) is not op or activation_of(inner_op) != NONE:
        return False
    with np.errstate(over="ignore"):
        merged = value * inner[1] if _GROUP[op.kind] == "MUL" else value + inner[1]
        merged = merged.astype(op.output.dtype)
    if not np.all(np.isfinite(merged)):
        return False
    if _GROUP[op.kind] == "ADD" and np.any(
        (abs(inner[1]) >= SWALLOWING) & (abs(merged) < abs(inner[1]) / 2)
    ):
        return False
    if merged.size > max(value.size, inner[1].size) and merged.size > SMALL:
        return False
    b = builder(graph, op)
    activation = activation_of(op)
    constant = b.constant(merged, inner_op.inputs[1].name)
    result = b.op(_GROUP[op.kind], inner[0], constant, fused_activation_function=activation)
    if not same_shape(result, op.output):
        graph.remove(result.producer)
        return False
    swap(graph, op, result)
    graph.remove(inner_op)
    return True


@rewrite("MUL", "DIV")
def merge_constants_of_sum(graph: Graph, op: Op) -> bool:
    """Multiplies a sum by what its terms and it are multiplied by, as norms of lists have it.

        x -> MUL(a) -> u;  y -> MUL(a) -> v;  PACK(u, v) -> w -> SUM -> s -> MUL(b) -> z
            becomes      PACK(x, y) -> w -> SUM -> s -> MUL(a * b) -> z

    Also CONCATENATION and one term in another shape. Holds off when a is above 1 or a * b below it,
    since the sum might overflow then where z does not, and when another op reads what changes.
    """
    outer = _term(op)
    total = None if outer is None else producer_of(outer[0], "SUM")
    if outer is None or total is None or graph.sole_reader(total.output) is not op:
        return False
    joined = producer_of(total.inputs[0], "PACK", "CONCATENATION", *RESHAPES)
    if joined is None or graph.sole_reader(joined.output) is not total:
        return False
    terms = joined.inputs[:1] if joined.kind in RESHAPES else joined.inputs
    products = [_factor(graph, tensor, joined) for tensor in terms]
    if None in products or activation_of(joined) != NONE:
        return False
    scaled = [product for product in products if product is not None]
    factor, *others = (number for _, number in scaled)
    merged = (outer[1] * factor).astype(op.output.dtype)
    if (
        set(others) - {factor}
        or not 0 < factor <= 1
        or not np.all((merged >= 1) & np.isfinite(merged))
    ):
        return False
    b, activation = builder(graph, op), activation_of(op)
    for i, (x, _) in enumerate(scaled):
        joined.set_input(i, x)
    swap(graph, op, b.MUL(total.output, b.constant(merged), fused_activation_function=activation))
    return True


def _factor(graph: Graph, tensor: Tensor, reader: Op) -> tuple[Tensor, float] | None:
    """(x, c) of a tensor that is x * c for `reader` alone, with a number c."""
    inner = producer_of(tensor, "MUL", "DIV")
    term = None if inner is None else _term(inner)
    if inner is None or term is None or activation_of(inner) != NONE:
        return None
    is_alone = graph.sole_reader(tensor) is reader
    if term[1].size != 1 or not is_alone or not same_shape(term[0], tensor):
        return None
    return term[0], float(term[1].flat[0])


def _term(op: Op) -> tuple[Tensor, np.ndarray] | None:
    """(x, c) of an op that is x + c or x * c; None for another one."""
    parts = split_constant(op)
    if parts is None or not is_float(op.output) or op.output.elements is not None:
        return None
    x, value, position = parts
    value = value.astype(np.float64)
    if op.kind in ("ADD", "MUL"):
        return x, value
    if position == 0 or (op.kind == "DIV" and not np.all(value != 0)):
        return None
    return x, -value if op.kind == "SUB" else 1.0 / value


@rewrite(*BINARY - {"PRELU"} | {"SELECT_V2"})
def shrink_constants(graph: Graph, op: Op) -> bool:
    """Writes a constant that is everywhere the same as one number where that is broadcast.

        x[8,8] -> ADD(float32[8,8]{1.0}) -> y      becomes      x -> ADD(float32[]{1.0}) -> y

    Holds off when the constant gives the result its shape, and in SELECT_V2 of more dimensions than
    LiteRT broadcasts there.
    """
    return _shrunk(graph, op)


@rewrite(*BINARY - {"PRELU"} | {"SELECT_V2"})
def shrink_all_but_weights(graph: Graph, op: Op) -> bool:
    """Writes a constant that is everywhere the same as one number where that is broadcast.

        x[8,8] -> ADD(int32[8,8]{1}) -> y      becomes      x -> ADD(int32[]{1}) -> y

    Holds off as `shrink_constants`, and on real numbers, which may learn apart.
    """
    values = [constant_of(tensor) for tensor in op.inputs]
    return not any(v is not None and may_learn(v) for v in values) and _shrunk(graph, op)


def _shrunk(graph: Graph, op: Op) -> bool:
    rank = op.output.rank
    if op.kind == "SELECT_V2" and (rank is None or rank > SELECT_RANK):
        return False
    has_changed = False
    for i, tensor in enumerate(op.inputs):
        value = None if tensor is None else constant_of(tensor)
        if value is None or value.size < 2 or value.dtype.hasobject or tensor.quantization:
            continue
        others = (other for j, other in enumerate(op.inputs) if j != i and other is not None)
        if np.any(value != value.flat[0]) or not any(same_shape(x, op.output) for x in others):
            continue
        op.set_input(i, builder(graph, op).constant(value.flat[0], tensor.name))
        has_changed = True
    return has_changed


MAX_TERMS = 4
"""How deep sums are looked into for what is no number."""
MAX_TERM = 1e30
"""The largest constant in a sum of few terms that is certainly finite."""


def _is_bounded(x: Tensor, depth: int = MAX_TERMS) -> bool:
    """Whether a tensor is certainly finite: of integers or bounded operators, or a sum of such."""
    if not is_float(x):
        return True
    if x.value is not None:
        return bool(np.all(np.abs(x.value) <= MAX_TERM))
    if producer_of(x, *having("bounded")) is not None:
        return True
    cast, total = producer_of(x, "CAST"), producer_of(x, "ADD", "SUB")
    if cast is not None:
        return x.dtype == np.float32 and cast.inputs[0].dtype.kind in "biu"
    return total is not None and depth > 0 and all(_is_bounded(y, depth - 1) for y in total.inputs)


@rewrite("MUL")
def multiply_by_zero(graph: Graph, op: Op) -> bool:
    """Replaces a product with 0 by 0, as the first step of a recurrent cell has it.

        x -> LOGISTIC -> MUL(0) -> y      becomes      y = 0

    Holds off when x may be infinite or NaN, and on unknown dimensions.
    """
    parts = split_constant(op)
    if parts is None or np.any(parts[1] != 0) or not op.output.is_static:
        return False
    if _is_bounded(parts[0]) and activation_of(op) == NONE and not op.output.quantization:
        zeros = np.zeros([n or 0 for n in op.output.dims], op.output.dtype)
        swap(graph, op, builder(graph, op).constant(zeros, op.output.name))
        return True
    return False


@rewrite("ADD", "SUB")
def take_negation(graph: Graph, op: Op) -> bool:
    """Takes a negation into the sum that reads it.

        y -> NEG -> n;  ADD(x, n) -> z      becomes      SUB(x, y) -> z

    Also ADD(n, x), and SUB(x, n), which becomes ADD(x, y). Holds off on integers, which the other
    operator may have no kernel for, and on broadcasts of more than four dimensions.
    """
    if not is_float(op.output) or op.output.rank is None:
        return False
    if op.output.rank > 4 and not same_shape(*op.inputs):
        return False
    for i in (1, 0) if op.kind == "ADD" else (1,):
        negation = producer_of(op.inputs[i], "NEG")
        if negation is not None:
            b, x, y = builder(graph, op), op.inputs[1 - i], negation.inputs[0]
            sum_of = b.SUB if op.kind == "ADD" else b.ADD
            swap(graph, op, sum_of(x, y, fused_activation_function=activation_of(op)))
            return True
    return False


@rewrite("DIV")
def divide_by_multiplying(graph: Graph, op: Op) -> bool:
    """Turns a division by constants into a multiplication.

        x -> DIV(c) -> y      becomes      x -> MUL(1 / c) -> y

    Holds off on integers, where 1 / c is not finite, and on what sizes are computed with, which a
    last bit may change by one.
    """
    x, divisor = op.inputs
    value = constant_of(divisor)
    if value is None or x.is_constant or not is_float(x) or divisor.quantization:
        return False
    if x.elements is not None:
        return False
    with np.errstate(all="ignore"):
        inverse = (1.0 / value.astype(np.float64)).astype(value.dtype)
    if not np.all(np.isfinite(inverse)) or np.any(inverse == 0):
        return False
    b = builder(graph, op)
    constant = b.constant(inverse, divisor.name)
    activation = activation_of(op)
    swap(graph, op, b.MUL(x, constant, fused_activation_function=activation))
    return True
