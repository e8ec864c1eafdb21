"""Roll, BroadcastGradientArgs, NumericVerify, aeq.hadamard_rotation.

Source: TensorFlow's operations and LiteRT's operators of these names.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families.layout import move
from ...engine.plan.buffer import arena
from ...engine.plan.view import View
from ...schema.dtypes import tf_name
from ..numpy_calls import by_numpy
from .options import Options
from .registry import custom, exactly

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...engine.plan.program import Program
    from ..plan.node import DynamicResult, Emit, HostCall, Node, Operand, Prepared

_INTEGERS = ("int32", "int64")


@custom("Roll")
def roll(node: Node) -> Prepared:
    """The elements moved along axes; what goes out at the end comes in at the front."""
    x, shift, axis = exactly(node, 3)
    for name, operand in (("shift", shift), ("axis", axis)):
        node.require(
            operand.dtype.name in _INTEGERS and operand.ndim <= 1,
            f"{name} must be int32 or int64 with at most one dimension, "
            f"got {tf_name(operand.dtype)} of shape {operand.shape}",
        )
    node.require(
        shift.size == axis.size,
        f"there must be a shift for each axis, got {shift.size} for {axis.size}",
    )
    if x.dtype.hasobject or shift.value is None or axis.value is None:
        return _rolled_by_numpy(node, x)
    steps = _steps(node, x.shape, shift.value, axis.value)
    out = node.result(x.shape, x.dtype)

    def emit(program: Program) -> None:
        source = x
        moved = [(d, n) for d, n in enumerate(steps) if n] or [(0, 0)] * bool(x.ndim)
        if not x.ndim:
            move(program, x, out)
        for i, (d, n) in enumerate(moved):
            target = out if i == len(moved) - 1 else arena(x.shape, x.dtype)
            size = x.shape[d]
            for first, start, count in ((n, 0, size - n), (0, size - n, n)):
                if count:
                    view = View.of(target).part(d, first, count)
                    move(program, View.of(source).part(d, start, count), view)
            source = target

    return emit


def _rolled_by_numpy(node: Node, x: Operand) -> Prepared:
    def run(x: np.ndarray, shift: np.ndarray, axis: np.ndarray) -> list[np.ndarray]:
        steps = _steps(node, x.shape, shift, axis)
        return [np.roll(x, steps, tuple(range(x.ndim)))]

    if x.dtype.hasobject:
        return node.dynamic_result(run, [x.shape])
    return by_numpy(node, run, (x.shape, x.dtype))


def _steps(
    node: Node, shape: Sequence[int], shift: np.ndarray, axis: np.ndarray
) -> tuple[int, ...]:
    """How far each dimension is moved, less than its size."""
    steps, rank = [0] * len(shape), len(shape)
    for n, d in zip(shift.ravel().tolist(), axis.ravel().tolist(), strict=True):
        node.require(-rank <= d < rank, f"axis must be in [{-rank}, {rank}), got {d}")
        steps[d] += n
    return tuple(n % size if size else 0 for n, size in zip(steps, shape, strict=True))


@custom("BroadcastGradientArgs")
def broadcast_gradient_args(node: Node) -> DynamicResult:
    """The axes to sum over so that a gradient has the first shape, and those for the second."""
    shapes = exactly(node, 2)
    for operand in shapes:
        node.require(
            operand.dtype.name in _INTEGERS and operand.dtype == shapes[0].dtype,
            f"shapes must be int32 or int64, both the same, got {tf_name(operand.dtype)}",
        )

    def run(first: np.ndarray, second: np.ndarray) -> list[np.ndarray]:
        pair = [shape.ravel().tolist() for shape in (first, second)]
        dims = list(zip_longest(pair[0][::-1], pair[1][::-1], fillvalue=1))[::-1]
        for a, b in dims:
            node.require(a == b or 1 in (a, b), f"shapes {pair[0]} and {pair[1]} do not broadcast")
        axes = [
            [i for i, dim in enumerate(dims) if dim[side] == 1 and pair[0] != pair[1]]
            for side in (0, 1)
        ]
        return [np.array(a, first.dtype) for a in axes]

    return node.dynamic_result(run, [(None,), (None,)])


@custom("NumericVerify")
def numeric_verify(node: Node) -> HostCall:
    """The first input's numbers less those of the second, which they should be.

    With log_if_failed, a difference of more than `tolerance` steps is an error.
    """
    x, expected = exactly(node, 2)
    options = Options(node)
    tolerance, strict = options.number("tolerance", 0.0), options.flag("log_if_failed")
    node.require(
        expected.dtype == np.float32,
        f"the second input must be float32, got {tf_name(expected.dtype)}",
    )
    node.require_equal(
        expected.shape, x.shape, f"inputs must have one shape, got {x.shape}, {expected.shape}"
    )
    scales, zeros = _quantization(node, x)

    def run(x: np.ndarray, expected: np.ndarray) -> list[np.ndarray]:
        values = x.astype(np.float32)
        if x.dtype.kind in "iu":
            values = (x.astype(np.float32) - zeros) * scales
        difference = values - expected
        worst = float(np.abs(difference).max(initial=0.0))
        most = float(tolerance * np.max(scales))
        if strict and tolerance >= 0.1 and worst > most:  # below that it is of statistics only
            node.fail(f"numbers must differ by at most {most:g}, got {worst:g}")
        return [difference]

    return by_numpy(node, run, (x.shape, np.float32), retypes=True)


def _quantization(node: Node, x: Operand) -> tuple[np.ndarray, np.ndarray]:
    """The scale and the zero point of each element, as arrays that broadcast to it."""
    node.require(
        x.dtype.name in ("int8", "uint8", "int16", "float16"),
        f"{tf_name(x.dtype)} is not supported",
    )
    params = x.quantization
    if params is None or x.dtype == np.float16:
        node.require(x.dtype == np.float16, f"'{x.name}' must have a scale")
        return np.ones(1, np.float32), np.zeros(1, np.float32)
    shape = [1] * x.ndim
    if params.is_per_channel:
        shape[params.axis] = -1
    elif x.ndim == 0:
        shape = [1]
    scales, zeros = np.asarray(params.scales), np.asarray(params.zero_points)
    return scales.astype(np.float32).reshape(shape), zeros.astype(np.float32).reshape(shape)


@custom("aeq.hadamard_rotation")
def hadamard_rotation(node: Node) -> Emit:
    """Each `hadamard_size` numbers times a Hadamard matrix, divided by the root of their number.

    Sums and differences of pairs, ever further apart.
    """
    (x,) = exactly(node, 1)
    size = Options(node).positive("hadamard_size")
    node.require(x.dtype == np.float32, f"{tf_name(x.dtype)} is not supported")
    node.require(x.ndim in (2, 3), f"input must have 2 or 3 dimensions, got shape {x.shape}")
    node.require(
        size & (size - 1) == 0 and x.shape[-1] % size == 0,
        f"hadamard_size must be a power of 2 that divides {x.shape[-1]}, got {size}",
    )
    out = node.result(x.shape, np.float32)
    rows = (x.size // size, size)
    factor = float(np.float32(1) / np.sqrt(np.float32(size)))

    def emit(program: Program) -> None:
        if x.size:
            operands = x.reshape(rows), out.reshape(rows)
            program.call("hadamard.rotate", *operands, split=rows[0], factor=factor)

    return emit
