"""Python's operators on tensors and variables."""

from __future__ import annotations

from collections.abc import Callable

from ..core.build import ops
from ..core.create import convert_to_tensor, is_tensor_like
from ..core.graph import Tensor
from ..core.hooks import hook
from ..core.indexed_slices import IndexedSlices
from ..core.scopes import name_scope
from ..variables.variables import Variable
from . import arithmetic, linear_algebra
from .array import boolean_mask
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
        return arithmetic.logical_xor(x, y, name)
    return ops.BitwiseXor(x, y, name=name)


def _get_item(x, key) -> Tensor:
    if is_tensor_like(key) and key.dtype.kind == "b":
        return boolean_mask(x, key)
    return get_item(x, key)


def _is_bool(x, y) -> bool:
    tensor = x if isinstance(x, (Tensor, Variable)) else y
    return tensor.dtype.kind == "b"


BINARY: dict[str, Callable] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "truediv": arithmetic.truediv,
    "floordiv": arithmetic.floordiv,
    "mod": lambda x, y, name: ops.FloorMod(x, y, name=name),
    "pow": arithmetic.pow,
    "matmul": lambda x, y, name: linear_algebra.matmul(x, y, name=name),
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


def _invert(x) -> Tensor:
    return ops.LogicalNot(x) if x.dtype.kind == "b" else ops.Invert(x)


_ALL: dict[str, Callable] = {
    "neg": lambda x: ops.Neg(x),
    "abs": arithmetic.abs,
    "invert": _invert,
    "getitem": _get_item,
    **{name: _comparison(kind) for name, kind in COMPARISONS.items()},
    **{name: _binary(name, function) for name, function in BINARY.items()},
    **{f"r{name}": _reversed(name, function) for name, function in BINARY.items()},
}


@hook("apply_operator")
def apply(name: str, *operands):
    """What the operator `name`, as Python names its method, gives."""
    first, *others = operands
    return _ALL[name](first.value() if isinstance(first, Variable) else first, *others)
