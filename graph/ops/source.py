"""Ops that give, pass on or wait for values without computing."""

from __future__ import annotations

import numpy as np

from ..core.registry import add_row, op
from ..core.shapes import as_shape, is_static, known, merge, require, same, unknown


def _const_shape(op):
    return op.get_attr("value").shape


@op("Const", shape=_const_shape, moves_elements=True)
def const(*, value):
    """The value the graph holds."""
    return value


def _placeholder_shape(op):
    """The declared shape; a scalar's is not told from an unknown one in old graphs."""
    return op.get_attr("shape")


@op("Placeholder", "PlaceholderV2", shape=_placeholder_shape, pure=False)
def placeholder(*, dtype, shape, op):
    """Nothing: a placeholder has the value it is fed."""
    raise ValueError(
        f"You must feed a value for placeholder tensor '{op.name}' with dtype {dtype} "
        f"and shape {shape}"
    )


add_row("_Arg", None, unknown)


@op("PlaceholderWithDefault", shape=_placeholder_shape, pure=False)
def placeholder_with_default(x):
    """The default, unless the placeholder is fed."""
    return x


@op(
    "PreventGradient",
    "StopGradient",
    "Identity",
    shape=same,
    moves_elements=True,
)
def identity(x):
    """`x`."""
    return x


add_row("GuaranteeConst", identity, same, pure=False)
add_row("_Retval", identity, same, pure=False)


@op("IdentityN", shape=lambda op: [tensor.shape for tensor in op.inputs], moves_elements=True)
def identity_n(*inputs):
    """All inputs."""
    return inputs[0] if len(inputs) == 1 else inputs


def _ensure_shape(op):
    return merge(op.inputs[0].shape, op.get_attr("shape"))


@op("EnsureShape", shape=_ensure_shape, moves_elements=True)
def ensure_shape(x, *, shape):
    """`x`; ValueError when it has another shape."""
    merge(x.shape, shape)
    return x


@op("NoOp", "ControlTrigger", shape=lambda op: [])
def no_op():
    """Nothing."""
    return ()


@op("Assert", shape=lambda op: [], pure=False)
def assert_true(condition, *data):
    """Nothing; ValueError unless the condition holds."""
    if not condition:
        raise ValueError(f"assertion failed: {[array.tolist() for array in data]}")
    return ()


def _fill_shape(op):
    return as_shape(op, 0)


@op("Fill", shape=_fill_shape, moves_elements=True)
def fill(dims, value):
    """One value everywhere."""
    return np.full([int(n) for n in dims], value)


@op("ZerosLike", shape=same)
def zeros_like(x):
    """Zeros in the shape of `x`."""
    return np.full(x.shape, b"", object) if x.dtype == object else np.zeros_like(x)


@op("OnesLike", shape=same)
def ones_like(x):
    """Ones in the shape of `x`."""
    return np.ones_like(x)


@op("Empty", shape=_fill_shape, pure=False)
def empty(dims, *, dtype):
    """Zeros, where anything may stand."""
    return np.zeros([int(n) for n in dims], dtype)


def _range_count(start, limit, delta) -> int:
    if delta == 0:
        raise ValueError("Requires delta != 0")
    if (limit - start) * delta < 0:
        raise ValueError(f"Requires a range that reaches {limit} from {start} in steps of {delta}")
    if isinstance(start, int):
        return -(-abs(limit - start) // abs(delta))
    return int(np.ceil(np.abs((limit - start) / delta)))


def _range_numbers(start, limit, delta):
    numbers = (start.item(), limit.item(), delta.item())
    if not np.isfinite(numbers).all():
        raise ValueError(f"range must be finite, got {numbers}")
    return numbers


def _range_shape(op):
    values = [tensor.value for tensor in op.inputs]
    if any(value is None or value.item() is None for value in values):
        return (None,)
    return (_range_count(*_range_numbers(*values)),)


@op("Range", shape=_range_shape)
def range_(start, limit, delta):
    """start, start + delta, ... up to `limit`."""
    numbers = _range_numbers(start, limit, delta)
    steps = np.arange(_range_count(*numbers))
    return numbers[0] + steps * numbers[2]


def _lin_space_shape(op):
    count = op.inputs[2].value
    require(op, count is None or count.item() is None or count > 0, f"num must be > 0, got {count}")
    return (None if count is None or count.item() is None else int(count),)


@op("LinSpace", shape=_lin_space_shape)
def lin_space(start, stop, num):
    """`num` numbers from `start` to `stop`, evenly spaced."""
    if num.item() < 1:
        raise ValueError(f"Requires num > 0: {num.item()}")
    return np.linspace(start.item(), stop.item(), int(num))


def _broadcast_args_shape(op):
    sizes = known(op, 0, 1) + known(op, 1, 1)
    return (max(sizes) if is_static(sizes) else None,)


@op("BroadcastArgs", shape=_broadcast_args_shape)
def broadcast_args(a, b):
    """The shape two shapes broadcast to."""
    return np.broadcast_shapes(tuple(a.tolist()), tuple(b.tolist()))


@op("BroadcastGradientArgs", shape=lambda op: [(None,), (None,)])
def broadcast_gradient_args(a, b):
    """For each of two shapes the axes along which it is repeated when they broadcast."""
    shape = np.broadcast_shapes(tuple(a.tolist()), tuple(b.tolist()))
    results = []
    for given in (a.tolist(), b.tolist()):
        padded = [1] * (len(shape) - len(given)) + given
        axes = [i for i, n in enumerate(padded) if n == 1]
        results.append(np.array(axes, a.dtype))
    return results
