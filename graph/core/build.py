"""Operations written as calls: `ops.MatMul(x, w, transpose_b=True)` gives the product's tensor.

Any op type of the table of signatures is such a function. It takes one item for each of the op's
inputs (a list where an input is a list), and its attributes and `name` by keyword.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .create import create
from .graph import Operation, Tensor
from .shapes import is_static
from .signatures import signature_of


def call(kind: str, *inputs, name: str | None = None, **attrs) -> Any:
    """What an operation gives: a tensor, a list of them, or itself when it has no outputs."""
    op = create(kind, inputs, {key: _attr(value) for key, value in attrs.items()}, name)
    signature = op.signature
    is_list = signature is not None and any(
        argument.count or argument.is_list for argument in signature.outputs
    )
    if len(op.outputs) == 1 and not is_list:
        return op.outputs[0]
    return op.outputs or op


def _attr(value):
    """Attributes as graphs hold them: strings as bytes."""
    return value.encode() if isinstance(value, str) else value


class _Ops:
    """See the module."""

    def __getattr__(self, kind: str) -> Callable[..., Any]:
        if signature_of(kind) is None:
            raise AttributeError(f"there is no op type '{kind}'")
        return functools.partial(call, kind)


ops = _Ops()


def same_attrs(op: Operation, *names: str) -> dict[str, Any]:
    """The values of an operation's attributes, for another one that has them too."""
    return {name: op.get_attr(name) for name in names}


def shape_of(tensor: Tensor, dtype=np.int32) -> Tensor | np.ndarray:
    """The shape of a tensor: numbers when all are known, else an operation that will tell."""
    if is_static(tensor.shape):
        return np.array(tensor.shape, dtype)
    return ops.Shape(tensor, out_type=np.dtype(dtype))


def number(value: float, like: Tensor) -> np.ndarray:
    """A number of a tensor's dtype."""
    return np.asarray(value, like.dtype)
