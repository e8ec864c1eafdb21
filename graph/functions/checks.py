"""Checks of values: `tf.debugging.assert_equal` and its relatives.

What is known when the graph is made is checked at once; the rest becomes an operation that fails.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Protocol, cast

import numpy as np

from ...schema import errors
from ..core.build import ops
from ..core.composite.ragged_dispatch import has_ragged
from ..core.create import convert_to_tensor
from ..core.graph import Operation, Tensor
from ..core.scopes import control_dependencies, get_default_graph, name_scope
from ..core.shapes import whole
from .arguments import one_of
from .flow.control_flow import Assert, group, no_op, with_dependencies
from .math.arithmetic import abs
from .math.reductions import reduce_all
from .ragged.values import flat_operands

if TYPE_CHECKING:
    from ..core.typing import TensorLike

    Data = Sequence[TensorLike] | None


class Comparison(Protocol):
    """A check of two tensors, element by element."""

    def __call__(
        self,
        x: TensorLike,
        y: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that fails."""
        ...


class SignCheck(Protocol):
    """A check of a tensor's elements against 0."""

    def __call__(
        self,
        x: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        """An operation that fails."""
        ...


def prefix(message: str | None) -> str:
    """What a message of the caller puts before the words."""
    return f"{message}.  " if message else ""


def value_of(x: Tensor) -> np.ndarray | None:
    """The value of a tensor when all of it is known."""
    return whole(x.value)


def _shown(item: TensorLike) -> str:
    value = value_of(item) if isinstance(item, Tensor) else None
    return str(item if value is None else value)


def _check(
    symbol: str,
    kind: str,
    test: Callable[..., np.ndarray],
    operands: tuple[Tensor, Tensor],
    data: Data,
    summarize: int | None,
    message: str | None,
) -> Operation:
    """Raises InvalidArgumentError for values that are known, else an operation that will."""
    x, y = operands
    if data is None:
        words = f"Condition x {symbol} y did not hold element-wise:"
        data = [words, f"x ({x.name}) = ", x, f"y ({y.name}) = ", y]
    if message is not None:
        data = [message, *data]
    condition = reduce_all(getattr(ops, kind)(x, y))
    values = value_of(x), value_of(y)
    if values[0] is not None and values[1] is not None and not test(*values).all():
        raise errors.InvalidArgumentError(None, None, "\n".join(map(_shown, data)))
    return Assert(condition, data, summarize=summarize)


def _comparison(name: str, symbol: str, kind: str, test: Callable[..., np.ndarray]) -> Comparison:
    def check(
        x: TensorLike,
        y: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, label, [x, y]):
            if x is y and kind == "Equal":
                return no_op()
            if has_ragged(x, y):
                x, y = flat_operands(x, y)
            left = convert_to_tensor(x, name="x")
            right = convert_to_tensor(y, name="y")
            return _check(symbol, kind, test, (left, right), data, summarize, message)

    label = name
    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""An operation that fails unless x {symbol} y holds for all elements.

    Args:
        x, y: Numbers of one type, of shapes that broadcast together.
        data: What the error shows in place of x and y.
        summarize: How many elements of each it shows.
        message: What it begins with.
        name: Of the operation.

    Raises InvalidArgumentError at once where the values are known.
    """
    return check


assert_equal = _comparison("assert_equal", "==", "Equal", np.equal)
assert_none_equal = _comparison("assert_none_equal", "!=", "NotEqual", np.not_equal)
assert_less = _comparison("assert_less", "<", "Less", np.less)
assert_less_equal = _comparison("assert_less_equal", "<=", "LessEqual", np.less_equal)
assert_greater = _comparison("assert_greater", ">", "Greater", np.greater)
assert_greater_equal = _comparison("assert_greater_equal", ">=", "GreaterEqual", np.greater_equal)


def _sign_check(name: str, symbol: str, kind: str, test: Callable[..., np.ndarray]) -> SignCheck:
    def check(
        x: TensorLike,
        data: Data = None,
        summarize: int | None = None,
        message: str | None = None,
        name: str | None = None,
    ) -> Operation:
        with name_scope(name, label, [x]):
            value = convert_to_tensor(x, name="x")
            if data is None:
                words = f"Condition x {symbol} 0 did not hold element-wise:"
                data = [prefix(message), words, f"x ({value.name}) = ", value]
            zero = convert_to_tensor(0, value.dtype)
            return _check(symbol, kind, test, (value, zero), data, summarize, None)

    label = name
    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"""An operation that fails unless all elements of x are {symbol} 0.

    See `assert_equal` for the arguments; raises at once where the values are known.
    """
    return check


assert_negative = _sign_check("assert_negative", "<", "Less", np.less)
assert_positive = _sign_check("assert_positive", ">", "Greater", np.greater)
assert_non_negative = _sign_check("assert_non_negative", ">=", "GreaterEqual", np.greater_equal)
assert_non_positive = _sign_check("assert_non_positive", "<=", "LessEqual", np.less_equal)


def assert_near(
    x: TensorLike,
    y: TensorLike,
    rtol: TensorLike | None = None,
    atol: TensorLike | None = None,
    data: Data = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """An operation that fails unless |x - y| < atol + rtol |y| holds for all elements.

    Both tolerances are 10 times the type's epsilon by default; see `assert_equal` for the rest.
    """
    with name_scope(name, "assert_near", [x, y]):
        if has_ragged(x, y):
            x, y = flat_operands(x, y)
        left = convert_to_tensor(x, name="x")
        right = convert_to_tensor(y, left.dtype, "y")
        size = abs(right)
        least = 10 * float(np.finfo(size.dtype).eps)
        relative = convert_to_tensor(least if rtol is None else rtol, size.dtype, "rtol")
        absolute = convert_to_tensor(least if atol is None else atol, size.dtype, "atol")
        if data is None:
            words = f"x and y not equal to tolerance rtol = {relative}, atol = {absolute}"
            names = f"x ({left.name}) = ", f"y ({right.name}) = "
            data = [prefix(message), words, names[0], left, names[1], right]
        near = ops.Less(abs(left - right), absolute + relative * size)
        return Assert(reduce_all(near), data, summarize=summarize)


def verify_tensor_all_finite(
    t: TensorLike | None = None,
    msg: str | None = None,
    name: str | None = None,
    x: TensorLike | None = None,
    message: str | None = None,
) -> Tensor:
    """`t`, once it is seen to hold neither NaN nor infinity; fails with `msg` else.

    Args:
        t: Real floats of any shape; `x` under a newer name.
        msg: Of the error; `message` under a newer name.
        name: Of the operations.

    Raises ValueError when there is no tensor, or it comes by both names, TypeError for other types;
    when it runs, InvalidArgumentError.
    """
    value = one_of("x", x, "t", t)
    words = one_of("message", message, "msg", msg)
    if value is None:
        raise ValueError("verify_tensor_all_finite needs a tensor, got None")
    with name_scope(name, "VerifyFinite", [value]):
        tensor = convert_to_tensor(value, name="x")
        checked = ops.CheckNumerics(tensor, message=words or "")
        return with_dependencies([checked], tensor)


def add_check_numerics_ops() -> Operation:
    """An operation that fails when a float tensor of the graph is NaN or infinite.

    The tensors are looked at in the order of the graph.
    """
    check: list[Tensor] = []
    for op in get_default_graph().get_operations():
        for i, tensor in enumerate(op.outputs):
            if tensor.dtype is not None and tensor.dtype.is_floating:
                with control_dependencies(check):
                    check = [ops.CheckNumerics(tensor, message=f"{op.name}:{i}")]
    return group(*check)


def assert_proper_iterable(values: Iterable[object]) -> None:
    """Raises TypeError for what is no iterable, or one that nobody means: a tensor, a string."""
    from ..core.composite.sparse_tensor import SparseTensor

    if isinstance(values, (Tensor, SparseTensor, np.ndarray, str, bytes)):
        raise TypeError(
            'Expected argument "values" to be a "proper" iterable.  Found: '
            f"{type(cast('object', values))}"
        )
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')
