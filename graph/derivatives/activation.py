"""Derivatives of activations, softmax and losses, and of the gradients that are ops themselves."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from ..core.build import number, ops
from ..core.graph import Operation, Tensor
from .elementwise import conj
from .registry import gradient

FROM_OUTPUT = {"Elu": "EluGrad", "Relu": "ReluGrad", "Relu6": "Relu6Grad", "Selu": "SeluGrad"}
FROM_INPUT = {"Softplus": "SoftplusGrad", "Softsign": "SoftsignGrad"}


def _of(
    kind: str, tensor_of: Callable[[Operation], Tensor]
) -> Callable[[Operation, Tensor], Tensor]:
    return lambda op, dy: getattr(ops, kind)(dy, tensor_of(op))


for _name, _kind in FROM_OUTPUT.items():
    gradient(_name)(_of(_kind, lambda op: op.outputs[0]))
for _name, _kind in FROM_INPUT.items():
    gradient(_name)(_of(_kind, lambda op: op.inputs[0]))


@gradient("LeakyRelu")
def leaky_relu(op: Operation, dy: Tensor) -> Tensor:
    """Times alpha where the input is negative."""
    return ops.LeakyReluGrad(dy, op.inputs[0], alpha=op.get_attr("alpha"))


@gradient("ReluGrad", "Relu6Grad")
def relu_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """By the gradient it is the same op again, by the features zero."""
    features = op.inputs[1]
    return getattr(ops, op.type)(grad, features), ops.ZerosLike(features)


def _second_exponential(kind: str) -> None:
    @gradient(kind)
    def second(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
        """Of dy (y + 1) below 0; y is a linear function of its own slope."""
        dy, y = op.inputs
        bent = ops.SelectV2(ops.Less(y, number(0, y)), grad * dy, ops.ZerosLike(y))
        return getattr(ops, kind)(grad, y), bent


_second_exponential("EluGrad")
_second_exponential("SeluGrad")


@gradient("LeakyReluGrad")
def leaky_relu_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """By the gradient it is the same op again, by the features zero."""
    features = op.inputs[1]
    return ops.LeakyReluGrad(grad, features, alpha=op.get_attr("alpha")), ops.ZerosLike(features)


SecondFormula: TypeAlias = Callable[[Tensor, Tensor, Tensor], Tensor]
SECOND: dict[str, SecondFormula] = {
    "InvGrad": lambda y, dy, grad: -2 * grad * dy * y,
    "ReciprocalGrad": lambda y, dy, grad: -2 * grad * dy * y,
    "RsqrtGrad": lambda y, dy, grad: grad * dy * ops.Square(y) * number(-1.5, y),
    "SigmoidGrad": lambda y, dy, grad: grad * dy - 2 * (grad * dy) * y,
    "TanhGrad": lambda y, dy, grad: -2 * grad * dy * y,
}
"""The gradient by y of `kind(y, dy)`; by dy it is the same op again."""


def _second(
    kind: str, formula: SecondFormula
) -> Callable[[Operation, Tensor], tuple[Tensor, Tensor]]:
    def function(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
        y, dy = (conj(tensor) for tensor in op.inputs)
        return formula(y, dy, grad), getattr(ops, kind)(y, grad)

    return function


for _name, _formula in SECOND.items():
    gradient(_name)(_second(_name, _formula))


@gradient("SqrtGrad")
def sqrt_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """Of dy / (2 y)."""
    y = conj(op.inputs[0])
    quotient = grad / y
    return -conj(quotient) * op.outputs[0], quotient / 2


@gradient("SoftplusGrad")
def softplus_grad(op: Operation, grad: Tensor) -> tuple[Tensor, Tensor]:
    """Of dy sigmoid(x)."""
    dy, x = op.inputs
    scaled = grad * dy / (ops.Exp(-x) + 2 + ops.Exp(x))
    return ops.SoftplusGrad(grad, x), scaled


def _along_last(x: Tensor) -> Tensor:
    return ops.Sum(x, np.array([-1], np.int32), keep_dims=True)


@gradient("Softmax")
def softmax(op: Operation, dy: Tensor) -> Tensor:
    """(dy - sum(dy y)) y."""
    return softmax_gradient(op.outputs[0], dy)


def softmax_gradient(y: Tensor, dy: Tensor) -> Tensor:
    """(dy - sum(dy y)) y."""
    return (dy - _along_last(dy * y)) * y


@gradient("LogSoftmax")
def log_softmax(op: Operation, dy: Tensor) -> Tensor:
    """Dy - sum(dy) exp(y)."""
    return dy - _along_last(dy) * ops.Exp(op.outputs[0])


@gradient("L2Loss")
def l2_loss(op: Operation, dy: Tensor) -> Tensor:
    """Dy x."""
    return op.inputs[0] * dy


def _rows(loss_gradient: Tensor) -> Tensor:
    """One number for each row as a column."""
    return ops.ExpandDims(loss_gradient, np.int32(-1))


@gradient("SoftmaxCrossEntropyWithLogits")
def softmax_cross_entropy(
    op: Operation, d_loss: Tensor | None, d_backprop: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """To the logits the op's own second output times the loss's gradient."""
    d_labels = None if d_loss is None else _rows(d_loss) * -ops.LogSoftmax(op.inputs[0])
    return _to_logits(op, d_loss, d_backprop), d_labels


@gradient("SparseSoftmaxCrossEntropyWithLogits")
def sparse_softmax_cross_entropy(
    op: Operation, d_loss: Tensor | None, d_backprop: Tensor | None
) -> tuple[Tensor, None]:
    """To the logits the op's own second output times the loss's gradient."""
    return _to_logits(op, d_loss, d_backprop), None


def _to_logits(op: Operation, d_loss: Tensor | None, d_backprop: Tensor | None) -> Tensor:
    """What flows to the logits from the loss, and from its gradient where that is used itself."""
    terms = [] if d_loss is None else [_rows(d_loss) * op.outputs[1]]
    if d_backprop is not None:
        terms.append(softmax_gradient(ops.Softmax(op.inputs[0]), d_backprop))
    return terms[0] if len(terms) == 1 else terms[0] + terms[1]
