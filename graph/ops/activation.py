"""Activations, softmax and losses, and the gradients TensorFlow has as ops of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..core.registry import add_row, op
from ..core.shapes import Dim, Shape, broadcasting, known, merge_dims, merged, require, same

if TYPE_CHECKING:
    from ..core.protocols import OperationView

SELU_SCALE = 1.0507009873554804934193349852946
SELU_ALPHA = 1.6732632423543772848170429916717
SELU_NEGATIVE = SELU_SCALE * SELU_ALPHA


def _softplus(x: np.ndarray) -> np.ndarray:
    return np.logaddexp(x, np.zeros((), x.dtype))


def _selu(x: np.ndarray) -> np.ndarray:
    return np.where(x < 0, SELU_NEGATIVE * np.expm1(np.minimum(x, 0)), SELU_SCALE * x)


ACTIVATIONS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Elu": lambda x: np.where(x < 0, np.expm1(np.minimum(x, 0)), x),
    "Relu": lambda x: np.maximum(x, 0),
    "Relu6": lambda x: np.clip(x, 0, 6),
    "Selu": _selu,
    "Softplus": _softplus,
    "Softsign": lambda x: x / (1 + np.abs(x)),
}

for _name, _function in ACTIVATIONS.items():
    add_row(_name, _function, same)


@op("LeakyRelu", shape=same)
def leaky_relu(x: np.ndarray, *, alpha: float) -> np.ndarray:
    """`x`, times `alpha` where it is negative."""
    return np.where(x > 0, x, x * x.dtype.type(alpha))


GRADIENTS: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "EluGrad": lambda dy, y: np.where(y < 0, dy * (y + 1), dy),
    "InvGrad": lambda y, dy: -dy * np.conj(y) * np.conj(y),
    "ReciprocalGrad": lambda y, dy: -dy * np.conj(y) * np.conj(y),
    "Relu6Grad": lambda dy, x: np.where((x > 0) & (x < 6), dy, 0),
    "ReluGrad": lambda dy, x: np.where(x > 0, dy, 0),
    "RsqrtGrad": lambda y, dy: -0.5 * (dy * np.conj(y)) * (np.conj(y) * np.conj(y)),
    "SeluGrad": lambda dy, y: np.where(y < 0, dy * (y + SELU_NEGATIVE), dy * SELU_SCALE),
    "SigmoidGrad": lambda y, dy: dy * y * (1 - y),
    "SoftplusGrad": lambda dy, x: dy / (1 + np.exp(-x)),
    "SoftsignGrad": lambda dy, x: dy / (1 + np.abs(x)) ** 2,
    "SqrtGrad": lambda y, dy: 0.5 * dy / np.conj(y),
    "TanhGrad": lambda y, dy: dy * (1 - y * y),
}


def _same_pair(op: OperationView) -> Shape:
    return merged(op, (0, 1))


for _name, _function in GRADIENTS.items():
    add_row(_name, _function, _same_pair)


@op("LeakyReluGrad", shape=_same_pair)
def leaky_relu_grad(dy: np.ndarray, x: np.ndarray, *, alpha: float) -> np.ndarray:
    """`dy`, times `alpha` where `x` is negative."""
    return np.where(x > 0, dy, dy * x.dtype.type(alpha))


def _shifted(x: np.ndarray) -> np.ndarray:
    """`x` less its largest element along the last axis, in 32 bits or more."""
    x = x.astype(np.float32) if x.dtype.itemsize == 2 else x
    return x - np.max(x, -1, keepdims=True, initial=-np.inf)


def _softmax_shape(op: OperationView) -> tuple[Dim, ...]:
    shape = known(op, 0)
    require(op, len(shape) >= 1, f"logits must have rank >= 1, got {shape}")
    return shape


@op("Softmax", shape=_softmax_shape)
def softmax(x: np.ndarray) -> np.ndarray:
    """exp(x) / sum(exp(x)) along the last axis."""
    powers = np.exp(_shifted(x))
    return powers / np.sum(powers, -1, keepdims=True, dtype=np.float64)


@op("LogSoftmax", shape=_softmax_shape)
def log_softmax(x: np.ndarray) -> np.ndarray:
    """log(softmax(x)) along the last axis."""
    x = _shifted(x)
    return x - np.log(np.sum(np.exp(x), -1, keepdims=True, dtype=np.float64))


@op("L2Loss", shape=lambda op: ())
def l2_loss(x: np.ndarray) -> np.float64:
    """Half the sum of the squares."""
    return np.sum(np.square(x, dtype=np.float64)) / 2


def _cross_entropy_shape(op: OperationView) -> list[Shape]:
    shape = broadcasting(op)
    return [None if shape is None else shape[:1], shape]


@op("SoftmaxCrossEntropyWithLogits", shape=_cross_entropy_shape)
def softmax_cross_entropy_with_logits(
    logits: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """-sum(labels * log(softmax(logits))) of each row, and its gradient by the logits."""
    log_p = log_softmax(logits)
    return -np.sum(labels * log_p, -1), np.exp(log_p) - labels


def _sparse_cross_entropy_shape(op: OperationView) -> list[Shape]:
    rank = None if op.inputs[1].sizes is None else len(op.inputs[1].sizes)
    words = f"labels must be 1-D, but got rank {rank}: Shape must be rank 1 but is rank {rank}"
    require(op, rank in (None, 1), words)
    logits, labels = known(op, 0, 2), known(op, 1, 1)
    try:
        return [(merge_dims(logits[0], labels[0]),), logits]
    except ValueError as error:
        raise ValueError(f"{op.type} '{op.name}': {error} in {logits} and {labels}") from None


@op("SparseSoftmaxCrossEntropyWithLogits", shape=_sparse_cross_entropy_shape)
def sparse_softmax_cross_entropy_with_logits(
    logits: np.ndarray, labels: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """-log(softmax(logits)[label]) of each row, and its gradient by the logits."""
    merge_dims(len(logits), len(labels))
    if labels.size and not 0 <= int(labels.min()) <= int(labels.max()) < logits.shape[1]:
        wrong = labels[(labels < 0) | (labels >= logits.shape[1])][0]
        raise ValueError(
            f"Received a label value of {wrong} which is outside the valid range of "
            f"[0, {logits.shape[1]}).  Label values: {' '.join(map(str, labels.tolist()))}"
        )
    log_p, rows = log_softmax(logits), np.arange(len(labels))
    gradient = np.exp(log_p)
    gradient[rows, labels] -= 1
    return -log_p[rows, labels], gradient
