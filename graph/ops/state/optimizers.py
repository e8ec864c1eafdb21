"""The updates of optimizers with a rate of their own for each element, dense and sparse.

As in apply.py, on a reference or on a resource's handle; the variables are changed in place. The
sparse form of an op has `indices` behind the gradient and does the same to the rows they name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ...core.registry import add_row
from ...core.shapes import Shape, merged, same
from ..gather import require_indices

if TYPE_CHECKING:
    from ...core.protocols import AttrValue, OperationView

Update: TypeAlias = "Callable[..., None]"


def apply_adagrad(
    var: np.ndarray,
    accum: np.ndarray,
    lr: np.ndarray,
    grad: np.ndarray,
    *,
    update_slots: bool = True,
) -> None:
    """accum += grad^2; var -= lr grad / sqrt(accum)."""
    if update_slots:
        accum += np.square(grad)
    var -= grad * lr / np.sqrt(accum)


def apply_adagrad_v2(
    var: np.ndarray,
    accum: np.ndarray,
    lr: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
    *,
    update_slots: bool = True,
) -> None:
    """accum += grad^2; var -= lr grad / (sqrt(accum) + epsilon)."""
    if update_slots:
        accum += np.square(grad)
    var -= grad * lr / (np.sqrt(accum) + epsilon)


def apply_adadelta(
    var: np.ndarray,
    accum: np.ndarray,
    accum_update: np.ndarray,
    lr: np.ndarray,
    rho: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
) -> None:
    """var -= lr update, of gradients and updates as large as their running mean squares say."""
    accum *= rho
    accum += np.square(grad) * (1 - rho)
    update = np.sqrt(accum_update + epsilon) / np.sqrt(accum + epsilon) * grad
    var -= update * lr
    accum_update *= rho
    accum_update += np.square(update) * (1 - rho)


def apply_rms_prop(
    var: np.ndarray,
    ms: np.ndarray,
    mom: np.ndarray,
    lr: np.ndarray,
    rho: np.ndarray,
    momentum: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
) -> None:
    """Running mean ms of grad^2; mom = momentum mom + lr grad / sqrt(ms + epsilon); var -= mom."""
    ms += (np.square(grad) - ms) * (1 - rho)
    mom *= momentum
    mom += grad * lr / np.sqrt(ms + epsilon)
    var -= mom


def apply_centered_rms_prop(
    var: np.ndarray,
    mg: np.ndarray,
    ms: np.ndarray,
    mom: np.ndarray,
    lr: np.ndarray,
    rho: np.ndarray,
    momentum: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
) -> None:
    """As apply_rms_prop, with the variance ms - mg^2 of the gradients in place of ms."""
    ms += (np.square(grad) - ms) * (1 - rho)
    mg += (grad - mg) * (1 - rho)
    mom *= momentum
    mom += grad * lr / np.sqrt(ms - np.square(mg) + epsilon)
    var -= mom


def apply_ftrl_v2(
    var: np.ndarray,
    accum: np.ndarray,
    linear: np.ndarray,
    grad: np.ndarray,
    lr: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    l2_shrinkage: np.ndarray,
    lr_power: np.ndarray,
    *,
    multiply_linear_by_lr: bool = False,
) -> None:
    """var = (l1 sign(linear) - linear) / (accum^-power / lr + 2 l2), 0 where |linear| <= l1."""
    shrunk = grad + 2 * l2_shrinkage * var
    new_accum = accum + np.square(grad)
    root, change = new_accum**-lr_power, new_accum**-lr_power - accum**-lr_power
    if multiply_linear_by_lr:
        linear += shrunk * lr - change * var
        l1, slope = l1 * lr, root + 2 * l2 * lr
    else:
        linear += shrunk - change / lr * var
        slope = root / lr + 2 * l2
    var[...] = np.where(np.abs(linear) > l1, (np.sign(linear) * l1 - linear) / slope, 0)
    accum[...] = new_accum


def apply_ftrl(
    var: np.ndarray,
    accum: np.ndarray,
    linear: np.ndarray,
    grad: np.ndarray,
    lr: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    lr_power: np.ndarray,
    *,
    multiply_linear_by_lr: bool = False,
) -> None:
    """As apply_ftrl_v2, without shrinkage."""
    apply_ftrl_v2(
        var, accum, linear, grad, lr, l1, l2, np.zeros_like(l2), lr_power,
        multiply_linear_by_lr=multiply_linear_by_lr,
    )  # fmt: skip


def apply_proximal_gradient_descent(
    var: np.ndarray, alpha: np.ndarray, l1: np.ndarray, l2: np.ndarray, delta: np.ndarray
) -> None:
    """var = var - alpha delta, nearer to 0 by alpha l1 and divided by 1 + alpha l2."""
    target = var - delta * alpha
    var[...] = np.sign(target) * np.maximum(np.abs(target) - alpha * l1, 0) / (1 + l2 * alpha)


def apply_proximal_adagrad(
    var: np.ndarray,
    accum: np.ndarray,
    lr: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    grad: np.ndarray,
) -> None:
    """As apply_proximal_gradient_descent, with lr / sqrt(accum) as the rate."""
    accum += np.square(grad)
    apply_proximal_gradient_descent(var, lr / np.sqrt(accum), l1, l2, grad)


def apply_adagrad_da(
    var: np.ndarray,
    gradient_accumulator: np.ndarray,
    gradient_squared_accumulator: np.ndarray,
    grad: np.ndarray,
    lr: np.ndarray,
    l1: np.ndarray,
    l2: np.ndarray,
    global_step: np.ndarray,
) -> None:
    """var = -lr sum, nearer to 0 by l1 step, over l2 step lr + sqrt(sum of squares)."""
    gradient_accumulator += grad
    gradient_squared_accumulator += np.square(grad)
    step, total = global_step.astype(var.dtype), gradient_accumulator
    near = np.sign(total) * np.maximum(np.abs(total) - l1 * step, 0)
    var[...] = -lr * near / (l2 * step * lr + np.sqrt(gradient_squared_accumulator))


def apply_ada_max(
    var: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    beta1_power: np.ndarray,
    lr: np.ndarray,
    beta1: np.ndarray,
    beta2: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
) -> None:
    """v = max(beta2 v, |grad|); var -= lr / (1 - beta1_power) m / (v + epsilon)."""
    m += (grad - m) * (1 - beta1)
    v[...] = np.maximum(beta2 * v, np.abs(grad))
    var -= lr / (1 - beta1_power) * (m / (v + epsilon))


def apply_adam_with_amsgrad(
    var: np.ndarray,
    m: np.ndarray,
    v: np.ndarray,
    vhat: np.ndarray,
    beta1_power: np.ndarray,
    beta2_power: np.ndarray,
    lr: np.ndarray,
    beta1: np.ndarray,
    beta2: np.ndarray,
    epsilon: np.ndarray,
    grad: np.ndarray,
) -> None:
    """Adam with the largest v so far in the denominator."""
    m += (grad - m) * (1 - beta1)
    v += (np.square(grad) - v) * (1 - beta2)
    vhat[...] = np.maximum(vhat, v)
    rate = lr * np.sqrt(1 - beta2_power) / (1 - beta1_power)
    var -= m * rate / (np.sqrt(vhat) + epsilon)


def apply_add_sign(
    var: np.ndarray,
    m: np.ndarray,
    lr: np.ndarray,
    alpha: np.ndarray,
    sign_decay: np.ndarray,
    beta: np.ndarray,
    grad: np.ndarray,
) -> None:
    """var -= lr (alpha + decay sign(grad) sign(m)) grad."""
    m[...] = m * beta + grad * (1 - beta)
    var -= lr * (alpha + sign_decay * np.sign(grad) * np.sign(m)) * grad


def apply_power_sign(
    var: np.ndarray,
    m: np.ndarray,
    lr: np.ndarray,
    logbase: np.ndarray,
    sign_decay: np.ndarray,
    beta: np.ndarray,
    grad: np.ndarray,
) -> None:
    """var -= lr exp(logbase decay sign(grad) sign(m)) grad."""
    m[...] = m * beta + grad * (1 - beta)
    var -= lr * np.exp(logbase * sign_decay * np.sign(grad) * np.sign(m)) * grad


def apply_keras_momentum(
    var: np.ndarray,
    accum: np.ndarray,
    lr: np.ndarray,
    grad: np.ndarray,
    momentum: np.ndarray,
    *,
    use_nesterov: bool,
) -> None:
    """accum = momentum accum - lr grad; var += accum."""
    accum *= momentum
    accum -= lr * grad
    var += accum * momentum - lr * grad if use_nesterov else accum


def _on_rows(update: Update, n_variables: int, grad: int) -> Update:
    """The sparse form of an update whose gradient is operand `grad`."""

    def kernel(*arrays: np.ndarray, op: OperationView) -> None:
        indices, operands = arrays[grad + 1], [*arrays[: grad + 1], *arrays[grad + 2 :]]
        require_indices(indices, len(arrays[0]))
        attrs = {name: op.get_attr(name) for name in ATTRIBUTES.get(update, ())}
        if len(np.unique(indices)) == len(indices):
            _update_rows(update, operands, n_variables, indices, attrs)
            return
        gradients = operands[grad]
        for i in range(len(indices)):  # one after another, as an index may come again
            operands[grad] = gradients[i : i + 1]
            _update_rows(update, operands, n_variables, indices[i : i + 1], attrs)

    kernel.__doc__ = f"{update.__name__} of the rows at `indices`, one after another."
    return kernel


def _update_rows(
    update: Update,
    operands: Sequence[np.ndarray],
    n_variables: int,
    indices: np.ndarray,
    attrs: Mapping[str, AttrValue],
) -> None:
    rows = [variable[indices] for variable in operands[:n_variables]]
    update(*rows, *operands[n_variables:], **attrs)
    for variable, values in zip(operands, rows, strict=False):
        variable[indices] = values


def _nothing(op: OperationView) -> list[Shape]:
    return []


UPDATES: dict[str, tuple[Update, int, int]] = {
    "Adadelta": (apply_adadelta, 3, 6),
    "Adagrad": (apply_adagrad, 2, 3),
    "AdagradDA": (apply_adagrad_da, 3, 3),
    "AdagradV2": (apply_adagrad_v2, 2, 4),
    "CenteredRMSProp": (apply_centered_rms_prop, 4, 8),
    "Ftrl": (apply_ftrl, 3, 3),
    "FtrlV2": (apply_ftrl_v2, 3, 3),
    "ProximalAdagrad": (apply_proximal_adagrad, 2, 5),
    "ProximalGradientDescent": (apply_proximal_gradient_descent, 1, 4),
    "RMSProp": (apply_rms_prop, 3, 7),
}
"""Kernels, how many of their inputs are variables, and which is the gradient."""
ATTRIBUTES: dict[Update, tuple[str, ...]] = {
    apply_adagrad: ("update_slots",),
    apply_adagrad_v2: ("update_slots",),
    apply_ftrl: ("multiply_linear_by_lr",),
    apply_ftrl_v2: ("multiply_linear_by_lr",),
    apply_keras_momentum: ("use_nesterov",),
}
DENSE: dict[str, tuple[Update, int]] = {
    "ApplyAdaMax": (apply_ada_max, 3),
    "ApplyAddSign": (apply_add_sign, 2),
    "ApplyPowerSign": (apply_power_sign, 2),
    "ResourceApplyAdaMax": (apply_ada_max, 3),
    "ResourceApplyAdamWithAmsgrad": (apply_adam_with_amsgrad, 4),
    "ResourceApplyAddSign": (apply_add_sign, 2),
    "ResourceApplyKerasMomentum": (apply_keras_momentum, 2),
    "ResourceApplyPowerSign": (apply_power_sign, 2),
}
"""Kernels without a sparse form, and how many of their inputs are variables."""

for _name, (_update, _n, _grad) in UPDATES.items():
    _writes, _rows = tuple(range(_n)), _on_rows(_update, _n, _grad)
    _shape = partial(merged, indices=(*_writes, _grad))
    add_row(f"Apply{_name}", _update, _shape, pure=False, writes=_writes)
    add_row(f"ResourceApply{_name}", _update, _nothing, pure=False, writes=_writes)
    add_row(f"SparseApply{_name}", _rows, same, pure=False, writes=_writes)
    add_row(f"ResourceSparseApply{_name}", _rows, _nothing, pure=False, writes=_writes)
for _name, (_update, _n) in DENSE.items():
    _shape = _nothing if _name.startswith("Resource") else same
    add_row(_name, _update, _shape, pure=False, writes=tuple(range(_n)))
add_row(
    "ResourceSparseApplyKerasMomentum",
    _on_rows(apply_keras_momentum, 2, 3),
    _nothing,
    pure=False,
    writes=(0, 1),
)
