"""Python's operators on tensors and variables."""

from __future__ import annotations

from collections.abc import Callable

from ..build import ops
from ..create import convert_to_tensor
from ..graph import Tensor
from ..indexed_slices import IndexedSlices
from ..scopes import name_scope
from ..variables import Variable
from . import math
from .slices import get_item


def _multiply(x, y, name):
    return ops.Mul(x, y, name=name)


def _subtract(x, y, name):
    return ops.Sub(x, y, name=name)


def _add(x, y, name):
    x = convert_to_tensor(x, name="x")
    y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
    return (ops.Add if x.dtype.kind == "O" else ops.AddV2)(x, y, name=name)


def _and(x, y, name):
    kind = ops.LogicalAnd if _is_bool(x, y) else ops.BitwiseAnd
    return kind(x, y, name=name)


def _or(x, y, name):
    kind = ops.LogicalOr if _is_bool(x, y) else ops.BitwiseOr
    return kind(x, y, name=name)


def _xor(x, y, name):
    if _is_bool(x, y):
        return math.logical_xor(x, y, name)
    return ops.BitwiseXor(x, y, name=name)


def _is_bool(x, y) -> bool:
    tensor = x if isinstance(x, (Tensor, Variable)) else y
    return tensor.dtype.kind == "b"


BINARY: dict[str, Callable] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "truediv": math.truediv,
    "floordiv": math.floordiv,
    "mod": lambda x, y, name: ops.FloorMod(x, y, name=name),
    "pow": math.pow,
    "matmul": lambda x, y, name: math.matmul(x, y, name=name),
    "and": _and,
    "or": _or,
    "xor": _xor,
}
"""Operator -> function of both sides and a name scope."""

COMPARISONS = {"lt": "Less", "le": "LessEqual", "gt": "Greater", "ge": "GreaterEqual"}


def _binary(name: str, function: Callable) -> Callable:
    def apply(x, y):
        if isinstance(y, IndexedSlices):
            return NotImplemented
        with name_scope(None, name, [x, y]) as scope:
            return function(_tensor(x, "x"), y, name=scope)

    return apply


def _reversed(name: str, function: Callable) -> Callable:
    def apply(y, x):
        with name_scope(None, name, [x, y]) as scope:
            y = _tensor(y, "y")
            return function(convert_to_tensor(x, y.dtype, "x"), y, name=scope)

    return apply


def _tensor(x, name: str) -> Tensor:
    return x if isinstance(x, Tensor) else convert_to_tensor(x, name=name)


def _comparison(kind: str) -> Callable:
    def apply(x, y):
        return getattr(ops, kind)(x, y)

    return apply


def _not_bool(self):
    raise TypeError(
        "Using a symbolic `tf.Tensor` as a Python `bool` is not allowed. Use `if t is not None:` "
        "instead of `if t:` to test if a tensor is defined, and use TensorFlow ops such as tf.cond "
        "to execute subgraphs conditioned on the value of a tensor."
    )


def _not_iterable(self):
    raise TypeError("Iterating over a symbolic `tf.Tensor` is not allowed. Use tf.unstack.")


def _no_length(self):
    raise TypeError(f"len is not well defined for a symbolic Tensor ({self.name}). Use tf.size.")


def install() -> None:
    """Gives Tensor and Variable Python's operators."""
    for kind in (Tensor, Variable):
        for name, function in BINARY.items():
            setattr(kind, f"__{name}__", _binary(name, function))
            setattr(kind, f"__r{name}__", _reversed(name, function))
        for name, op_type in COMPARISONS.items():
            setattr(kind, f"__{name}__", _comparison(op_type))
        kind.__neg__ = lambda x: ops.Neg(x)
        kind.__abs__ = lambda x: math.abs(x)
        kind.__invert__ = lambda x: ops.LogicalNot(x) if x.dtype.kind == "b" else ops.Invert(x)
        kind.__getitem__ = get_item
        kind.__iter__ = _not_iterable
        kind.__array_priority__ = 100
    Tensor.__bool__ = _not_bool
    Tensor.__len__ = _no_length


install()
