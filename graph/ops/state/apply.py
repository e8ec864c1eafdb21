"""Ops that change variables: what optimizers apply, and rows added, put or taken by index.

Each comes twice: on a reference (ApplyAdam) and on a resource's handle (ResourceApplyAdam). The
kernels are given the variables' own memory and change it in place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ....schema.errors import OutOfRangeError
from ...core.registry import add_row
from ...core.shapes import Shape, merged, merged_shapes, require, same, scalar
from ..gather import require_indices, require_scattered, scattered
from ..slice import strided_index
from .state import declared_shape

if TYPE_CHECKING:
    from ...core.protocols import OperationView


def apply_gradient_descent(var: np.ndarray, alpha: np.ndarray, delta: np.ndarray) -> None:
    """var -= alpha delta."""
    var -= delta * alpha


def apply_momentum(
    var: np.ndarray,
    accum: np.ndarray,
    lr: np.ndarray,
    grad: np.ndarray,
    momentum: np.ndarray,
    *,
    use_nesterov: bool,
) -> None:
    """accum = momentum accum + grad; var -= lr accum."""
    accum *= momentum
    accum += grad
    step = grad + accum * momentum if use_nesterov else accum
    var -= step * lr


def apply_adam(
    var: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    beta1_power: np.ndarray,
    beta2_power: np.ndarray,
    lr: np.ndarray,
    beta1: np.ndarray,
    beta2: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
    *,
    use_nesterov: bool,
) -> None:
    """Running means m of the gradient and v of its square; var -= rate m / (sqrt(v) + epsilon)."""
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    m += (grad - m) * (1 - beta1)
    v += (np.square(grad) - v) * (1 - beta2)
    mean = grad * (1 - beta1) + beta1 * m if use_nesterov else m
    var -= (mean * rate / (np.sqrt(v) + epsilon)).astype(var.dtype)


def sparse_apply_momentum(
    var: np.ndarray,
    accum: np.ndarray,
    lr: np.ndarray,
    grad: np.ndarray,
    indices: np.ndarray,
    momentum: np.ndarray,
    *,
    use_nesterov: bool,
) -> None:
    """As apply_momentum, on the rows at `indices`, one after another."""
    require_indices(indices, len(var))
    for index, row in zip(indices.tolist(), grad, strict=True):
        at = slice(index, index + 1)
        apply_momentum(var[at], accum[at], lr, row, momentum, use_nesterov=use_nesterov)


SCATTERS: dict[str, np.ufunc | None] = {
    "Add": np.add,
    "Div": np.divide,
    "Max": np.maximum,
    "Min": np.minimum,
    "Mul": np.multiply,
    "Sub": np.subtract,
    "Update": None,
}


def _scatter(combine: np.ufunc | None) -> Callable[[np.ndarray, np.ndarray, np.ndarray], None]:
    """A kernel that combines updates into the rows at some indices, one after another."""

    def kernel(var: np.ndarray, indices: np.ndarray, updates: np.ndarray) -> None:
        require_indices(indices, len(var))
        if combine is None:
            var[indices] = updates
        else:
            combine.at(var, indices, np.broadcast_to(updates, indices.shape + var.shape[1:]))

    return kernel


def _scatter_nd(combine: np.ufunc | None) -> Callable[..., None]:
    """A kernel that combines updates into the parts at index tuples, one after another."""

    def kernel(
        var: np.ndarray,
        indices: np.ndarray,
        updates: np.ndarray,
        *,
        bad_indices_policy: bytes = b"",
    ) -> None:
        scattered(combine, var, indices, updates, bad_indices_policy)

    return kernel


def _assign_slice(
    var: np.ndarray,
    begin: np.ndarray,
    end: np.ndarray,
    strides: np.ndarray,
    value: np.ndarray,
    *,
    op: OperationView,
) -> None:
    """var[begin:end:strides] = value, as StridedSlice means it."""
    var[strided_index(op, var.ndim, begin, end, strides)] = value


def _count_up_to(var: np.ndarray, *, limit: int) -> np.ndarray:
    """The number before 1 is added; OutOfRangeError from `limit` on."""
    before = var.copy()
    if before >= limit:
        raise OutOfRangeError(None, None, f"Reached limit of {limit}")
    var += 1
    return before


def _nothing(op: OperationView) -> list[Shape]:
    return []


def _referred_shape(op: OperationView) -> Shape:
    """The shape of the variable that is changed, as far as it is known."""
    return declared_shape(op) if op.type.startswith("Resource") else op.inputs[0].sizes


def _rows_changed(op: OperationView) -> Shape | list[Shape]:
    """The variable's shape; updates are numbers, or rows for each of the indices."""
    shape, indices, updates = _referred_shape(op), op.inputs[1].sizes, op.inputs[2].sizes
    if shape is not None and indices is not None and updates != ():
        merged_shapes(op, updates, (*indices, *shape[1:]))
    return [] if op.type.startswith("Resource") else shape


def _parts_changed(op: OperationView) -> Shape | list[Shape]:
    """The variable's shape; there is a part for each of the index tuples."""
    shape = _referred_shape(op)
    require(op, op.inputs[2].sizes != (), "Shape must be at least rank 1 but is rank 0")
    require_scattered(op, shape, op.inputs[1].sizes, op.inputs[2].sizes)
    return [] if op.type.startswith("Resource") else shape


DENSE = {
    "ApplyAdam": (apply_adam, (0, 1, 2), 9),
    "ApplyGradientDescent": (apply_gradient_descent, (0,), 2),
    "ApplyMomentum": (apply_momentum, (0, 1), 3),
}
SPARSE = {"SparseApplyMomentum": (sparse_apply_momentum, (0, 1))}
"""Kernels, which of their inputs are variables, and which is the gradient, of the same shape."""

for _name, (_kernel, _writes, _grad) in DENSE.items():
    _shape = partial(merged, indices=(*_writes, _grad))
    add_row(_name, _kernel, _shape, pure=False, writes=_writes)
    add_row(f"Resource{_name}", _kernel, _nothing, pure=False, writes=_writes)
for _name, (_kernel, _writes) in SPARSE.items():
    add_row(_name, _kernel, same, pure=False, writes=_writes)
    add_row(f"Resource{_name}", _kernel, _nothing, pure=False, writes=_writes)
for _name, _combine in SCATTERS.items():
    add_row(f"Scatter{_name}", _scatter(_combine), _rows_changed, pure=False, writes=(0,))
    add_row(f"ResourceScatter{_name}", _scatter(_combine), _rows_changed, pure=False, writes=(0,))
for _name in ("Add", "Max", "Min", "Sub", "Update"):
    _kernel = _scatter_nd(SCATTERS[_name])
    add_row(f"ScatterNd{_name}", _kernel, _parts_changed, pure=False, writes=(0,))
    add_row(f"ResourceScatterNd{_name}", _kernel, _parts_changed, pure=False, writes=(0,))
add_row("StridedSliceAssign", _assign_slice, same, pure=False, writes=(0,))
add_row("ResourceStridedSliceAssign", _assign_slice, _nothing, pure=False, writes=(0,))
add_row("CountUpTo", _count_up_to, scalar, pure=False, writes=(0,))
add_row("ResourceCountUpTo", _count_up_to, scalar, pure=False, writes=(0,))
