"""Python's operators on tensors and variables."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from ..core.build import ops
from ..core.composite.indexed_slices import IndexedSlices
from ..core.composite.ragged_tensor import RaggedTensor
from ..core.create import convert_to_tensor, output
from ..core.graph import Tensor
from ..core.hooks import hook
from ..core.scopes import name_scope
from ..variables.variables import Variable
from .array.array import boolean_mask
from .array.slices import get_item
from .linalg import linear_algebra
from .math import arithmetic
from .ragged.values import of_flat_values

if TYPE_CHECKING:
    from ..core.typing import TensorLike
    from .array.slices import Key

Binary: TypeAlias = "Callable[[Tensor, TensorLike, str | None], Tensor]"
"""What a binary operator builds from both sides and a name scope."""


def _multiply(x: Tensor, y: TensorLike, name: str | None) -> Tensor:
    return ops.Mul(x, y, name=name)


def _subtract(x: Tensor, y: TensorLike, name: str | None) -> Tensor:
    return ops.Sub(x, y, name=name)


def _add(x: Tensor, y: TensorLike, name: str | None) -> Tensor:
    y = convert_to_tensor(y, name="y", preferred_dtype=x.dtype)
    return (ops.Add if x.dtype.kind == "O" else ops.AddV2)(x, y, name=name)


def _integers(x: Tensor, y: TensorLike, kind: str) -> Tensor:
    """A bitwise operation; TypeError for what has no bits."""
    if x.dtype.kind not in "iu":
        _refuse_bits(x)
    return output(kind, [x, y])


def _refuse_bits(x: Tensor) -> NoReturn:
    raise TypeError(
        f"Value passed to parameter 'x' has DataType {x.dtype.name} not in list of allowed "
        "values: int8, int16, int32, int64, uint8, uint16, uint32, uint64"
    )


def _and(x: Tensor, y: TensorLike, name: str | None) -> Tensor:
    if _is_bool(x):
        return ops.LogicalAnd(x, y, name=name)
    return _integers(x, y, "BitwiseAnd")


def _or(x: Tensor, y: TensorLike, name: str | None) -> Tensor:
    if _is_bool(x):
        return ops.LogicalOr(x, y, name=name)
    return _integers(x, y, "BitwiseOr")


def _xor(x: Tensor, y: TensorLike, name: str | None) -> Tensor:
    if _is_bool(x):
        return arithmetic.logical_xor(x, y, name)
    return _integers(x, y, "BitwiseXor")


def _get_item(x: Tensor | Variable, key: Key) -> Tensor:
    if isinstance(key, (Tensor, Variable, np.ndarray)) and key.dtype.kind == "b":
        return boolean_mask(x, key)
    return get_item(x, key)


def _is_bool(x: Tensor) -> bool:
    return x.dtype.kind == "b"


BINARY: dict[str, Binary] = {
    "add": _add,
    "sub": _subtract,
    "mul": _multiply,
    "div": arithmetic.div,
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


def _binary(name: str, function: Binary) -> Callable[[Tensor, TensorLike | IndexedSlices], Tensor]:
    def apply(x: Tensor, y: TensorLike | IndexedSlices) -> Tensor:
        if isinstance(y, IndexedSlices):
            return NotImplemented
        with name_scope(None, name, [x, y]) as scope:
            try:
                return function(x, y, scope)
            except (TypeError, ValueError):
                result = _reflected(y, name, x)
                if result is NotImplemented:
                    raise
                return result

    return apply


def _reflected(y: object, name: str, x: Tensor) -> Tensor:
    """What the other side's operator gives; NotImplemented where it has none or refuses as well."""
    try:
        return getattr(y, f"__r{name}__")(x) if _answers(y, f"__r{name}__") else NotImplemented
    except (TypeError, ValueError):
        return NotImplemented


def _answers(operand: object, method: str) -> bool:
    """Whether an operand of no type of ours has a say in a binary operator."""
    known = (Tensor, Variable, np.ndarray, np.generic, bool, int, float, complex)
    return not isinstance(operand, known) and hasattr(type(operand), method)


def _reversed(name: str, function: Binary) -> Callable[[Tensor, TensorLike], Tensor]:
    def apply(y: Tensor, x: TensorLike) -> Tensor:
        with name_scope(None, name, [x, y]) as scope:
            return function(convert_to_tensor(x, y.dtype, "x"), y, scope)

    return apply


def _comparison(kind: str) -> Callable[[Tensor, TensorLike], Tensor]:
    def apply(x: Tensor, y: TensorLike) -> Tensor:
        return getattr(ops, kind)(x, y)

    return apply


def _negative(x: Tensor) -> Tensor:
    return ops.Neg(x)


def _invert(x: Tensor) -> Tensor:
    if x.dtype.kind not in "biu":
        _refuse_bits(x)
    return ops.LogicalNot(x) if x.dtype.kind == "b" else ops.Invert(x)


_ALL: dict[str, Callable[..., Tensor]] = {
    "neg": _negative,
    "abs": arithmetic.abs,
    "invert": _invert,
    "getitem": _get_item,
    **{name: _comparison(kind) for name, kind in COMPARISONS.items()},
    **{name: _binary(name, function) for name, function in BINARY.items()},
    **{f"r{name}": _reversed(name, function) for name, function in BINARY.items()},
}


@hook("apply_operator")
def apply(
    name: str, operand: Tensor | Variable, *others: TensorLike | IndexedSlices | Key
) -> Tensor:
    """What the operator `name`, as Python names its method, gives."""
    keeps = name == "getitem"  # a part of a variable can be assigned to
    value = operand.value() if isinstance(operand, Variable) and not keeps else operand
    return _ALL[name](value, *others)


def _logical_xor(x: Tensor, y: Tensor) -> Tensor:
    return ops.LogicalAnd(ops.LogicalOr(x, y), ops.LogicalNot(ops.LogicalAnd(x, y)))


_LOGICAL: dict[str, Callable[..., Tensor]] = {
    "and": ops.LogicalAnd,
    "or": ops.LogicalOr,
    "xor": _logical_xor,
}
"""What `&`, `|` and `^` are of ragged tensors, which of tensors may be bitwise."""


@hook("apply_ragged")
def apply_ragged(name: str, *operands: object) -> RaggedTensor:
    """What the operator `name` gives for the innermost values of ragged tensors."""

    def of_values(*values: Tensor) -> Tensor:
        if name in _LOGICAL:
            return _LOGICAL[name](*values)
        if isinstance(values[0], Tensor):
            return _ALL[name](*values)
        return _ALL[f"r{name}"](values[1], values[0])

    return of_flat_values(of_values, *operands)
