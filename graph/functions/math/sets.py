"""Operations on the sets in the last dimension of tensors: `tf.sets`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...core.arrays import type_name
from ...core.build import ops
from ...core.composite.sparse_tensor import SparseTensor
from ...core.create import convert_to_tensor
from ...core.scopes import name_scope
from ...core.signatures.op_limits import allowed_types

if TYPE_CHECKING:
    from ...core.graph import Tensor
    from ...core.typing import TensorLike

    Operand = TensorLike | SparseTensor


def set_size(a: SparseTensor, validate_indices: bool = True) -> Tensor:
    """How many different elements each set of a sparse tensor has.

    Raises TypeError when `a` is no SparseTensor.
    """
    if not isinstance(a, SparseTensor):
        raise TypeError(f"Expected `SparseTensor`, got {a}.")
    return ops.SetSize(a.indices, a.values, a.dense_shape, validate_indices=validate_indices)


def _require_types(a: Tensor, b: Tensor) -> None:
    """Raises TypeError unless both are of one type that sets may have."""
    types = allowed_types("DenseToDenseSetOperation", "T") or ()
    if type_name(a.dtype) not in types:
        raise TypeError(
            f"'a' has invalid dtype `<dtype: '{type_name(a.dtype)}'>` not in supported dtypes: "
            f"`frozenset({{{', '.join(f'tf.{kind}' for kind in types)}}})`."
        )
    if a.dtype != b.dtype:
        names = (f"<dtype: '{type_name(x.dtype)}'>" for x in (a, b))
        raise TypeError(f"Types don't match, {' vs '.join(names)}.")


def _combined(a: Operand, b: Operand, operation: str, validate_indices: bool) -> SparseTensor:
    """The sets of `a` and `b`, combined; both have the same dimensions but for the last.

    Raises TypeError when the types differ.
    """
    a, b = (x if isinstance(x, SparseTensor) else convert_to_tensor(x) for x in (a, b))
    _require_types(*(x.values if isinstance(x, SparseTensor) else x for x in (a, b)))
    if isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    attrs = {"set_operation": operation, "validate_indices": validate_indices}
    with name_scope(None, "set_operation"):
        parts: list[Tensor] = []
        for x in (a, b):
            if isinstance(x, SparseTensor):
                parts += [x.indices, x.values, x.dense_shape]
            else:
                parts.append(convert_to_tensor(x))
        if isinstance(a, SparseTensor):
            results = ops.SparseToSparseSetOperation(*parts, **attrs)
        elif isinstance(b, SparseTensor):
            results = ops.DenseToSparseSetOperation(*parts, **attrs)
        else:
            results = ops.DenseToDenseSetOperation(*parts, **attrs)
    return SparseTensor(*results)


def set_intersection(a: Operand, b: Operand, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in both sets, in rising order.

    Args:
        a, b: Sparse tensors, or `a` dense, of one integer type or strings, and of the same sizes
            but for the last dimension, along which the sets lie.
        validate_indices: Whether places are checked to be in order.

    Raises TypeError for other types.
    """
    return _combined(a, b, "intersection", validate_indices)


def set_difference(
    a: Operand, b: Operand, aminusb: bool = True, validate_indices: bool = True
) -> SparseTensor:
    """The elements that are in `a` alone, in rising order.

    Args:
        a, b: See `set_intersection`.
        aminusb: Whether those of `a` are taken, and not those of `b` alone.
        validate_indices: Whether places are checked to be in order.

    Raises TypeError for other types.
    """
    return _combined(a, b, "a-b" if aminusb else "b-a", validate_indices)


def set_union(a: Operand, b: Operand, validate_indices: bool = True) -> SparseTensor:
    """The elements that are in either set, in rising order; see `set_intersection`."""
    return _combined(a, b, "union", validate_indices)
