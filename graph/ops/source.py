"""Ops that give, pass on or wait for values without computing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from ...schema.dtypes import RESOURCE
from ..core.registry import add_row, op
from ..core.shapes import (
    Shape,
    as_shape,
    integers,
    is_static,
    known,
    merge,
    merged_shapes,
    require,
    same,
    shown,
    unknown,
)
from .state.tensorlist import zeros_of
from .text.printing import summary

if TYPE_CHECKING:
    from ..core.graph import Operation
    from ..core.protocols import OperationView


def _const_shape(op: OperationView) -> Shape:
    return op.get_attr("value").shape


@op("Const", shape=_const_shape, moves_elements=True)
def const(*, value: np.ndarray) -> np.ndarray:
    """The value the graph holds."""
    return value


def _placeholder_shape(op: OperationView) -> Shape:
    """The declared shape; a scalar's is not told from an unknown one in old graphs."""
    return op.get_attr("shape")


@op("Placeholder", "PlaceholderV2", shape=_placeholder_shape, pure=False)
def placeholder(*, dtype: np.dtype, shape: Shape, op: OperationView) -> NoReturn:
    """Nothing: a placeholder has the value it is fed."""
    raise ValueError(
        f"You must feed a value for placeholder tensor '{op.name}' with dtype {dtype} "
        f"and shape {shape}"
    )


add_row("_Arg", None, unknown)


def _default_shape(op: OperationView) -> Shape:
    shape = _placeholder_shape(op)
    merged_shapes(op, op.inputs[0].sizes, shape)
    return shape


@op("PlaceholderWithDefault", shape=_default_shape, pure=False)
def placeholder_with_default(x: np.ndarray) -> np.ndarray:
    """The default, unless the placeholder is fed."""
    return x


@op(
    "PreventGradient",
    "StopGradient",
    "Identity",
    shape=same,
    moves_elements=True,
)
def identity(x: np.ndarray) -> np.ndarray:
    """`x`."""
    return x


@op("GuaranteeConst", shape=same, pure=False)
def guarantee_const(x: np.ndarray, *, op: OperationView) -> np.ndarray:
    """`x`, which never changes; the handle of a variable says nothing of its value."""
    if op.inputs[0].dtype == RESOURCE:
        raise ValueError("Input tensor cannot be a resource variable handle.")
    return x


add_row("_Retval", identity, same, pure=False)


@op("IdentityN", shape=lambda op: [tensor.sizes for tensor in op.inputs], moves_elements=True)
def identity_n(*inputs: np.ndarray) -> np.ndarray | tuple[np.ndarray, ...]:
    """All inputs."""
    return inputs[0] if len(inputs) == 1 else inputs


def _ensured(op: OperationView, shape: Shape) -> Shape:
    """What a shape and the one that is asked for say together; ValueError when they differ."""
    expected = op.get_attr("shape")
    if shape is not None and expected is not None:
        words = f"Shape must be rank {len(expected)} but is rank {len(shape)}"
        require(op, len(shape) == len(expected), words)
    return merged_shapes(op, expected, shape)


@op("EnsureShape", shape=lambda op: _ensured(op, op.inputs[0].sizes), moves_elements=True)
def ensure_shape(x: np.ndarray, *, op: Operation) -> np.ndarray:
    """`x`; ValueError when it has another shape."""
    try:
        merge(x.shape, op.get_attr("shape"))
    except ValueError:
        source = op.inputs[0].op.name
        raise ValueError(
            f"Shape of tensor {source} {shown(x.shape)} is not compatible with expected shape "
            f"{shown(op.get_attr('shape'))}."
        ) from None
    return x


@op("NoOp", "ControlTrigger", shape=lambda op: [])
def no_op() -> tuple[()]:
    """Nothing."""
    return ()


@op("Timestamp", shape=lambda op: (), pure=False)
def timestamp() -> np.ndarray:
    """Seconds since 1970."""
    return np.array(time.time())


@op("Assert", shape=lambda op: [], pure=False)
def assert_true(condition: np.ndarray, *data: np.ndarray, summarize: int) -> tuple[()]:
    """Nothing; ValueError unless the condition holds."""
    if not condition:
        parts = [f"[{summary(array, summarize)}]" for array in data]
        raise ValueError(" ".join(["assertion failed:", *parts]))
    return ()


def _fill_shape(op: OperationView) -> Shape:
    dims, shape = integers(op, 0), as_shape(op, 0)
    require(op, min(dims or [0]) >= 0, "Fill dimensions must be >= 0")
    return shape


@op("Fill", shape=_fill_shape, moves_elements=True)
def fill(dims: np.ndarray, value: np.ndarray) -> np.ndarray:
    """One value everywhere."""
    return np.full([int(n) for n in dims], value)


@op("ZerosLike", shape=same)
def zeros_like(x: np.ndarray) -> np.ndarray:
    """Zeros in the shape of `x`."""
    return zeros_of(x)


@op("OnesLike", shape=same)
def ones_like(x: np.ndarray) -> np.ndarray:
    """Ones in the shape of `x`."""
    return np.ones_like(x)


@op("Empty", shape=_fill_shape, pure=False)
def empty(dims: np.ndarray, *, dtype: np.dtype) -> np.ndarray:
    """Zeros, where anything may stand."""
    return np.zeros([int(n) for n in dims], dtype)


def _range_count(start: float, limit: float, delta: float) -> int:
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if (limit - start) * delta < 0:
        signs = "<= limit when delta >" if delta > 0 else ">= limit when delta <"
        raise ValueError(f"Requires start {signs} 0: {start}/{limit}")
    if isinstance(start, int):
        return int(-(-abs(limit - start) // abs(delta)))
    return int(np.ceil(np.abs((limit - start) / delta)))


def _range_numbers(
    start: np.ndarray, limit: np.ndarray, delta: np.ndarray
) -> tuple[float, float, float]:
    numbers = (start.item(), limit.item(), delta.item())
    if not np.isfinite(numbers).all():
        raise ValueError(f"range must be finite, got {numbers}")
    return numbers


def _range_shape(op: OperationView) -> Shape:
    values = [tensor.value for tensor in op.inputs if tensor.value is not None]
    if len(values) < len(op.inputs) or any(value.item() is None for value in values):
        return (None,)
    return (_range_count(*_range_numbers(*values)),)


@op("Range", shape=_range_shape)
def range_(start: np.ndarray, limit: np.ndarray, delta: np.ndarray) -> np.ndarray:
    """start, start + delta, ... up to `limit`."""
    numbers = _range_numbers(start, limit, delta)
    steps = np.arange(_range_count(*numbers))
    return numbers[0] + steps * numbers[2]


def _lin_space_shape(op: OperationView) -> Shape:
    count = op.inputs[2].value
    require(op, count is None or count.item() is None or count > 0, f"Requires num > 0: {count}")
    return (None if count is None or count.item() is None else int(count),)


@op("LinSpace", shape=_lin_space_shape)
def lin_space(start: np.ndarray, stop: np.ndarray, num: np.ndarray) -> np.ndarray:
    """`num` numbers from `start` to `stop`, evenly spaced."""
    if num.item() < 1:
        raise ValueError(f"Requires num > 0: {num.item()}")
    first: float = start.item()
    last: float = stop.item()
    return np.linspace(first, last, int(num))


def _broadcast_args_shape(op: OperationView) -> Shape:
    sizes = known(op, 0, 1) + known(op, 1, 1)
    return (max(sizes) if is_static(sizes) else None,)


@op("BroadcastArgs", shape=_broadcast_args_shape)
def broadcast_args(a: np.ndarray, b: np.ndarray) -> tuple[int, ...]:
    """The shape two shapes broadcast to."""
    return np.broadcast_shapes(tuple(a.tolist()), tuple(b.tolist()))


@op("BroadcastGradientArgs", shape=lambda op: [(None,), (None,)])
def broadcast_gradient_args(a: np.ndarray, b: np.ndarray) -> list[np.ndarray]:
    """For each of two shapes the axes along which it is repeated when they broadcast."""
    shape = np.broadcast_shapes(tuple(a.tolist()), tuple(b.tolist()))
    results: list[np.ndarray] = []
    for sizes in (a.tolist(), b.tolist()):
        padded = [1] * (len(shape) - len(sizes)) + sizes
        axes = [i for i, n in enumerate(padded) if n == 1]
        results.append(np.array(axes, a.dtype))
    return results
