"""Gradients against differences of values: `tf.test.compute_gradient`."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.build import ops
from ..core.composite.indexed_slices import IndexedSlices
from ..core.create import constant
from ..core.graph import Operation, Tensor
from ..core.hooks import implementation
from .gradients import gradients

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.protocols import Evaluated
    from ..session.fetches import IndexedSlicesValue
    from .registry import Gradient

    Feeds: TypeAlias = dict[Tensor, npt.ArrayLike]

Jacobians: TypeAlias = "tuple[np.ndarray, np.ndarray]"


def compute_gradient(
    x: Tensor | Sequence[Tensor],
    x_shape: Sequence[int] | Sequence[Sequence[int]],
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: np.ndarray | Sequence[np.ndarray] | None = None,
    delta: float = 1e-3,
    init_targets: Sequence[Operation] | None = None,
    extra_feed_dict: Feeds | None = None,
) -> Jacobians | list[Jacobians]:
    """The Jacobian of y by x, from gradients and from differences of values.

    Args:
        x: A tensor of floats or complex numbers, or a list of them.
        x_shape: Its shape, or one for each of the list.
        y: A tensor that depends on x.
        y_shape: Its shape.
        x_init_value: Where the derivative is taken; by default at numbers in [0, 1) that a fixed
            seed gives.
        delta: By how much elements are moved for the differences.
        init_targets: Operations that are run first.
        extra_feed_dict: What else is fed.

    Returns:
        Two arrays [elements of x, elements of y], real and imaginary parts as elements of their
        own; for a list of tensors one pair for each.

    Raises:
        ValueError: There is no default session, y does not depend on x, x is of another type, or
            `x_init_value` of another shape.
    """
    for target in init_targets or ():
        target.run()
    feeds = dict(extra_feed_dict or {})
    if isinstance(x, Tensor):
        value = cast("np.ndarray | None", x_init_value)
        return _jacobians(x, cast("Sequence[int]", x_shape), y, y_shape, value, delta, feeds)
    shapes = cast("Sequence[Sequence[int]]", x_shape)
    values: Sequence[np.ndarray | None] = (
        [None] * len(x) if x_init_value is None else cast("Sequence[np.ndarray]", x_init_value)
    )
    points = [_point(*item) for item in zip(x, shapes, values, strict=True)]
    feeds.update(zip(x, points, strict=True))
    return [
        _jacobians(one, shape, y, y_shape, point, delta, feeds)
        for one, shape, point in zip(x, shapes, points, strict=True)
    ]


def compute_gradient_error(
    x: Tensor | Sequence[Tensor],
    x_shape: Sequence[int] | Sequence[Sequence[int]],
    y: Tensor,
    y_shape: Sequence[int],
    x_init_value: np.ndarray | Sequence[np.ndarray] | None = None,
    delta: float = 1e-3,
    init_targets: Sequence[Operation] | None = None,
    extra_feed_dict: Feeds | None = None,
) -> float:
    """The largest difference between the Jacobians of `y` by `x`, by gradients and by differences.

    Arguments and errors are those of compute_gradient.
    """
    jacobians = compute_gradient(
        x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict
    )
    pairs = [jacobians] if isinstance(jacobians, tuple) else jacobians
    return max((float(np.abs(a - b).max(initial=0)) for a, b in pairs), default=0.0)


def _point(x: Tensor, shape: Sequence[int], value: np.ndarray | None) -> np.ndarray:
    """Where the derivative is taken."""
    dtype = np.dtype(x.dtype)
    if dtype.kind not in "fc" and dtype.name != "bfloat16":
        raise ValueError(f"compute_gradient: Don't support type {dtype.name} for x")
    if value is not None:
        if list(np.shape(value)) != list(shape):
            raise ValueError(
                f"compute_gradient: x_init_value must have shape {list(shape)}, "
                f"got {list(np.shape(value))}"
            )
        return np.array(value, dtype)
    rng = np.random.default_rng(0)
    point = rng.random(tuple(shape))
    if dtype.kind == "c":
        point = point + 1j * rng.random(tuple(shape))
    return point.astype(dtype)


def _real(array: np.ndarray) -> np.ndarray:
    """The elements as real numbers of 32 bits or more."""
    flat = _elements(np.ascontiguousarray(array))
    return flat.astype(np.float32) if flat.dtype.itemsize == 2 else flat


def _jacobians(
    x: Tensor,
    x_shape: Sequence[int],
    y: Tensor,
    y_shape: Sequence[int],
    value: np.ndarray | None,
    delta: float,
    feeds: Feeds,
) -> Jacobians:
    point = _point(x, x_shape, value)
    with x.graph.as_default():
        dy = constant(np.ones(tuple(y_shape), y.dtype))
        (dx,) = gradients(y, [x], [ops.Identity(dy)])
    if dx is None:
        raise ValueError(f"compute_gradient: '{y.name}' does not depend on '{x.name}'")
    feeds = {**feeds, x: point}
    return _of_gradients(dx, dy, y_shape, point, feeds), _of_values(
        x, y, y_shape, point, delta, feeds
    )


def _run(fetches: Gradient, feeds: Feeds) -> Evaluated:
    session = implementation("session_for")(fetches.graph, None, "compute gradients", "eval")
    return session.run(fetches, feeds)


def _elements(array: np.ndarray) -> np.ndarray:
    """A view of the elements as real numbers."""
    flat = array.reshape(-1)
    return flat.view(f"f{flat.dtype.itemsize // 2}") if flat.dtype.kind == "c" else flat


def _of_gradients(
    dx: Gradient, dy: Tensor, y_shape: Sequence[int], point: np.ndarray, feeds: Feeds
) -> np.ndarray:
    """One column for each element of dy: what flows back when it alone is 1."""
    upstream = np.zeros(tuple(y_shape), np.dtype(dy.dtype))
    elements = _elements(upstream)
    jacobian = np.zeros((_real(point).size, elements.size), _real(point).dtype)
    for column in range(elements.size):
        elements[column] = 1
        jacobian[:, column] = _real(_whole(dx, {**feeds, dy: upstream}, point))
        elements[column] = 0
    if not elements.size:
        empty = _whole(dx, {**feeds, dy: upstream}, point)
        if empty.shape != point.shape:
            raise ValueError(
                f"Empty gradient has wrong shape: expected {point.shape}, got {empty.shape}"
            )
        if np.any(empty):
            raise ValueError("Empty tensor with nonzero gradients")
    return jacobian


def _whole(dx: Gradient, feeds: Feeds, point: np.ndarray) -> np.ndarray:
    """The value of a gradient as an array of the shape of x."""
    value = _run(dx, feeds)
    if not isinstance(dx, IndexedSlices):
        return np.asarray(value)
    rows = cast("IndexedSlicesValue", value)
    result = np.zeros_like(point)
    np.add.at(result, rows.indices, rows.values)
    return result


def _of_values(
    x: Tensor,
    y: Tensor,
    y_shape: Sequence[int],
    point: np.ndarray,
    delta: float,
    feeds: Feeds,
) -> np.ndarray:
    """One row for each element of x: the change of y over that of the element."""
    n_columns = prod(y_shape) * (2 if np.dtype(y.dtype).kind == "c" else 1)
    n_rows = _real(point).size
    jacobian = np.zeros((n_rows, n_columns), _real(point).dtype)
    for row in range(n_rows):
        sides: list[np.ndarray] = []
        for step in (delta, -delta):
            moved = point.copy()
            _elements(moved)[row] += step
            sides.append(_real(np.asarray(_run(y, {**feeds, x: moved}))))
        jacobian[row] = (sides[0] - sides[1]) / (2 * delta)
    return jacobian
