"""Operators that a target lacks, in terms of others that it has."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from itertools import chain
from math import pi, prod
from typing import Any

import numpy as np

from ...schema.quantization import Quantization
from ...schema.tables import PADDING
from ...schema.targets import ranks as target_ranks
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from ..lowering import formulas
from ..targets import Target, is_repeated, repeats_for_adjoint, surplus
from .driver import fault
from .legalize import swap_results
from .rewrite import builder, constant_of, options_of, scalar_of

Rule = Callable[[Op, Builder], "Tensor | None"]
MAX_POWER = 64  # a whole exponent that becomes multiplications
MAX_PARTS = 256  # parts of a product or of a repetition
MANY_AXES = 5  # what some runtimes do not repeat operands along


def rewrite_for_target(graph: Graph, target: Target, is_quantized: bool = True) -> int:
    """Writes what a target does not run as what it may run, in place; gives the number of changes.

        x -> POW(3) -> y        becomes        x -> MUL(x) -> MUL(x) -> y

    Before a graph is quantized, what has an integer form of its own waits.
    Holds off where RULES has no form for an operator; `Target.check` refuses it then.
    """
    count = 0
    rules = MICRO_RULES if target.name == "tflm" else RULES
    rounds = [list(graph.reachable())] * 2  # some forms are in operators that have one, too
    for callee in chain(*rounds):
        for op in list(callee.ops):
            if op.kind not in rules or not target.reason_against(op):
                continue
            if op.kind in LAST and not is_quantized:
                continue
            try:
                result = rules[op.kind](op, builder(callee, op))
            except (ValueError, LookupError, TypeError) as error:
                raise fault("rewrite_for_target", f" at {op.kind} '{op.origin}'", error) from error
            if result is not None:
                result.quantization = op.output.quantization
                swap_results(callee, op, [result])
                count += 1
    return count


def _power(op: Op, b: Builder) -> Tensor | None:
    """x to a constant exponent: multiplications, roots, or EXP(exponent * LOG(x)).

    A power that is no whole number is NaN below 0, as the logarithm is.
    """
    x, exponent = op.inputs[0], scalar_of(op.inputs[1])
    if exponent is None or x.dtype != np.float32:
        return None
    one = np.float32(1)
    if exponent == int(exponent) and 0 < abs(exponent) <= MAX_POWER:
        power = _whole_power(b, x, abs(int(exponent)))
        return power if exponent > 0 else b.DIV(one, power)
    if abs(exponent) == 0.5:
        root = b.SQRT(x)
        return root if exponent > 0 else b.DIV(one, root)
    if exponent == int(exponent):  # of a large exponent the sign would be lost
        return None
    return b.EXP(b.MUL(b.LOG(x), np.float32(exponent)))


def _whole_power(b: Builder, x: Tensor, exponent: int) -> Tensor:
    """x times itself, by squares."""
    result, square = None, x
    while exponent:
        if exponent & 1:
            result = square if result is None else b.MUL(result, square)
        exponent >>= 1
        if exponent:
            square = b.MUL(square, square)
    assert result is not None
    return result


def _product(op: Op, b: Builder) -> Tensor | None:
    """REDUCE_PROD: the slices along each axis, multiplied."""
    x, axes = op.inputs[0], constant_of(op.inputs[1])
    if axes is None or not x.is_static or op.output.quantization is not None:
        return None
    rank, shape = len(x.dims), [n or 0 for n in x.dims]
    reduced = sorted({int(axis) % rank for axis in axes.reshape(-1)}) if rank else []
    if not reduced or 0 in shape or any(shape[axis] > MAX_PARTS for axis in reduced):
        return None
    result = x
    for axis in reduced:
        parts = [result]
        if shape[axis] > 1:
            parts = list(b.SPLIT(np.int32(axis), result, num_splits=shape[axis]))
        result = reduce(b.MUL, parts)
        shape[axis] = 1
    if op.options.keep_dims:
        return result
    remaining = [n for axis, n in enumerate(shape) if axis not in reduced]
    return b.RESHAPE(result, np.array(remaining, np.int32), new_shape=np.array(remaining, np.int32))


def _tile(op: Op, b: Builder) -> Tensor | None:
    """TILE: a CONCATENATION with itself along each axis that is repeated."""
    x, multiples = op.inputs[0], constant_of(op.inputs[1])
    if multiples is None or prod(multiples.reshape(-1).tolist()) > MAX_PARTS:
        return None
    if (multiples < 1).any() or (multiples == 1).all():
        return None
    result = x
    for axis, n in enumerate(multiples.reshape(-1).tolist()):
        if n > 1:
            result = b.CONCATENATION(*[result] * n, axis=axis)
            result.quantization = x.quantization
    return result


def _with_float_weights(position: int) -> Rule:
    """The same operator in float32, on weights that a DEQUANTIZE writes out."""

    def rule(op: Op, b: Builder) -> Tensor | None:
        weights = op.inputs[position]
        is_hybrid = op.output.dtype == np.float32 and weights.dtype.name in ("int8", "int4", "int2")
        if not is_hybrid or weights.quantization is None:
            return None
        floats = b.DEQUANTIZE(weights)
        floats.value = None  # folded, the weights would be stored as floats
        inputs = [floats if tensor is weights else tensor for tensor in op.inputs]
        options: dict[str, Any] = {
            name: False if name == "asymmetric_quantize_inputs" else value
            for name, value in options_of(op).items()
        }
        return b.op(op.kind, *inputs, graphs=(), **options)

    return rule


def _transposed_before(op: Op, b: Builder) -> Tensor | None:
    """BATCH_MATMUL of a TRANSPOSE, for adj_x."""
    x, y = op.inputs
    if not repeats_for_adjoint(op):
        return None
    order = np.arange(len(x.dims), dtype=np.int32)
    order[-2:] = order[:-3:-1]
    transposed = b.TRANSPOSE(x, order)
    transposed.quantization = x.quantization
    record = type(op.options)(**{**options_of(op), "adj_x": False})
    return _in_its_place(Op(op.kind, [transposed, y], [], record), op, b)


def _one_by_one(op: Op, b: Builder) -> Tensor | None:
    """REVERSE_V2 along each of its axes in turn."""
    result, axes = op.inputs[0], constant_of(op.inputs[1])
    if axes is None:
        return None
    for axis in axes.reshape(-1):
        result = b.REVERSE_V2(result, np.array([axis], np.int32))
        result.quantization = op.output.quantization
    return result


def _with_usual_bias(op: Op, b: Builder) -> Tensor | None:
    """The same operator without the option that its bias is int64, as that of int16 always was."""
    bias = op.input(len(op.inputs) - 1)
    is_usual = op.output.dtype == np.int16 and bias is not None and bias.dtype.name != "int32"
    options: dict[str, Any] = options_of(op)
    if not is_usual or not options.get("quantized_bias_type"):
        return None
    record = type(op.options)(**{**options, "quantized_bias_type": 0})
    return _in_its_place(Op(op.kind, op.inputs, [], record), op, b)


def _first(*rules: Rule) -> Rule:
    """What the first rule gives that has a form."""
    return lambda op, b: next(filter(None, (rule(op, b) for rule in rules)), None)


def _prelu(op: Op, b: Builder) -> Tensor | None:
    """PRELU with a constant for each channel, where XNNPACK reads as many of one."""
    x, alpha = op.inputs[0], constant_of(op.inputs[1])
    if alpha is None or not is_repeated(op.inputs[1], x) or x.dims[-1] is None:
        return None
    repeated = np.broadcast_to(alpha, (*alpha.shape[:-1], x.dims[-1]))
    constant = b.constant(np.ascontiguousarray(repeated))
    constant.quantization = op.inputs[1].quantization
    return b.PRELU(x, constant)


def _of_bytes(op: Op, b: Builder) -> Tensor | None:
    """The same operator on truth values as int8."""
    x = op.inputs[0]
    if x.dtype != np.bool_:
        return None
    y = b.op(op.kind, b.CAST(x, dtype=np.int8), *op.inputs[1:], **options_of(op))
    return b.CAST(y, dtype=np.bool_)


def _with_one_scale(op: Op, b: Builder) -> Tensor | None:
    """DEQUANTIZE of constant channels: of the integers, times the scales."""
    x = op.inputs[0]
    scheme = x.quantization
    if x.value is None or scheme is None or np.any(scheme.zero_points):
        return None
    integers = b.constant(x.value, x.name)
    integers.quantization = Quantization([1.0], [0])
    floats = b.DEQUANTIZE(integers)
    floats.value = None  # folded, the weights would be stored as floats
    shape = [1] * len(x.dims)
    shape[scheme.axis] = -1
    return b.MUL(floats, np.reshape(np.asarray(scheme.scales, np.float32), shape))


def _sum(op: Op, b: Builder) -> Tensor | None:
    """SUM of int16 in int32 and clipped where the scales are equal, else in float32."""
    x, axes = op.inputs
    options = options_of(op)
    if x.dtype != np.int16:
        return None
    if x.quantization == op.output.quantization:
        limits = np.iinfo(np.int16)
        total = b.SUM(b.CAST(x, dtype=np.int32), axes, **options)
        clipped = b.MAXIMUM(b.MINIMUM(total, np.int32(limits.max)), np.int32(limits.min))
        return b.CAST(clipped, dtype=np.int16)
    return _sum_of_floats(op, b)


def _sum_of_floats(op: Op, b: Builder) -> Tensor | None:
    """SUM of int16 in float32, where there is none of int32."""
    x, axes = op.inputs
    if x.dtype != np.int16:
        return None
    return _quantized(b.SUM(b.DEQUANTIZE(x), axes, **options_of(op)), op, b)


def _gelu(op: Op, b: Builder) -> Tensor | None:
    """GELU of floats by its formula; of integers between DEQUANTIZE and QUANTIZE.

    Its exact form is max(x, 0) - |x| / 2 * erfc(|x| / sqrt(2)), which needs no sign.
    """
    (x,) = op.inputs
    if x.dtype != np.float32:
        x = b.DEQUANTIZE(x)
    half = np.float32(0.5)
    if op.options.approximate:
        cube = b.MUL(b.MUL(b.SQUARE(x), x), np.float32(0.044715))
        gate = b.TANH(b.MUL(b.ADD(x, cube), np.float32((2 / pi) ** 0.5)))
        y = b.MUL(b.MUL(x, half), b.ADD(gate, np.float32(1)))
    else:
        size = b.ABS(x)
        tail = formulas.erfc(b, b.MUL(size, np.float32(0.5**0.5)))
        y = b.SUB(b.RELU(x), b.MUL(b.MUL(size, half), tail))
    return y if y.dtype == op.output.dtype else _quantized(y, op, b)


def _quantized(x: Tensor, op: Op, b: Builder) -> Tensor:
    """`x` with the type and scale that the result of an op has."""
    return _in_its_place(Op("QUANTIZE", [x], []), op, b)


def _in_its_place(new: Op, op: Op, b: Builder) -> Tensor:
    """The result of a new op, with the type, size and scale of another one's."""
    y = op.output
    new.outputs = [Tensor(y.name, y.dtype, y.sizes, quantization=y.quantization)]
    new.origin = op.origin
    b.graph.insert_before(op, new)
    return new.output


def _with_fewer_axes(op: Op, b: Builder) -> Tensor | None:
    """The same operator on operands whose neighbouring axes are one where both repeat alike."""
    rank = op.output.rank or 0
    if rank < MANY_AXES or not all(tensor.is_static for tensor in (*op.inputs, op.output)):
        return None
    shape = [n or 0 for n in op.output.dims]
    operands = [[1] * (rank - len(x.dims)) + [n or 0 for n in x.dims] for x in op.inputs]
    groups: list[list[int]] = []
    repeats: list[tuple[bool, ...]] = []
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        repeated = tuple(dims[axis] == 1 for dims in operands)
        if repeats and repeats[-1] == repeated:
            groups[-1].append(axis)
        else:
            groups.append([axis])
            repeats.append(repeated)
    if len(groups) == rank:
        return None

    def joined(x: Tensor, dims: list[int]) -> Tensor:
        sizes = np.array([prod(dims[axis] for axis in group) for group in groups], np.int32)
        if x.value is not None:
            result = b.constant(np.reshape(x.value, sizes))
        else:
            result = b.RESHAPE(x, sizes, new_shape=sizes)
        result.quantization = x.quantization
        return result

    inputs = [joined(x, dims) for x, dims in zip(op.inputs, operands, strict=True)]
    y = b.op(op.kind, *inputs, **options_of(op))
    y.quantization = op.output.quantization
    sizes = np.array(shape, np.int32)
    return b.RESHAPE(y, sizes, new_shape=sizes)


def _with_padding_before(op: Op, b: Builder) -> Tensor | None:
    """Zeros around the images, and a convolution with padding VALID."""
    amounts = [surplus(op, axis) for axis in (1, 2)]
    if op.options.padding != PADDING["SAME"] or None in amounts:
        return None
    x, totals = op.inputs[0], [max(n or 0, 0) for n in amounts]
    if any(totals):
        pairs = [(0, 0), *((n // 2, n - n // 2) for n in totals), (0, 0)]
        padded = b.PAD(x, np.array(pairs, np.int32))
        padded.quantization = x.quantization
        x = padded
    record = type(op.options)(**{**options_of(op), "padding": PADDING["VALID"]})
    return _in_its_place(Op(op.kind, [x, *op.inputs[1:]], [], record), op, b)


def _without_weights(op: Op, b: Builder) -> Tensor | None:
    """LSH_PROJECTION of two operands rather than of three of which the last is left out."""
    return b.LSH_PROJECTION(*op.inputs[:2], **options_of(op))


def _with_rows(op: Op, b: Builder) -> Tensor | None:
    """SPARSE_TO_DENSE with a row of indices and a value for each place."""
    indices, shape, values, default = op.inputs
    if not indices.is_static:
        return None
    n = 1 if indices.rank == 0 else indices.dims[0] or 0
    if indices.rank == 0:
        indices = b.RESHAPE(indices, np.ones(1, np.int32))
    if values.rank == 0:
        sizes = np.array([n], np.int32)
        values = b.RESHAPE(values, sizes) if n == 1 else b.FILL(sizes, values)
    return b.SPARSE_TO_DENSE(indices, shape, values, default, **options_of(op))


LAST = frozenset({"GELU"})
"""Operators that a quantizer looks at as a whole."""
RULES: dict[str, Rule] = {
    **dict.fromkeys(target_ranks.TF_2_14_BROADCAST, _with_fewer_axes),
    "BATCH_MATMUL": _first(_with_float_weights(1), _transposed_before),
    "CONV_2D": _first(_with_float_weights(1), _with_usual_bias, _with_padding_before),
    "DEPTHWISE_CONV_2D": _first(_with_float_weights(1), _with_padding_before),
    "DEQUANTIZE": _with_one_scale,
    "FULLY_CONNECTED": _first(_with_float_weights(1), _with_usual_bias),
    "GATHER_ND": _of_bytes,
    "GELU": _gelu,
    "LSH_PROJECTION": _without_weights,
    "POW": _first(_power, _with_fewer_axes),
    "PRELU": _prelu,
    "REDUCE_PROD": _product,
    "REVERSE_V2": _one_by_one,
    "SPARSE_TO_DENSE": _with_rows,
    "SUM": _sum,
    "TILE": _tile,
    "TRANSPOSE_CONV": _first(_with_float_weights(1), _with_usual_bias),
}
"""Operator -> its form in others; None where there is none."""
MICRO_RULES = {**RULES, "SUM": _sum_of_floats}
"""The same for small devices."""
