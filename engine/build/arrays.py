"""The arrays kernels see: numba's, but an index is taken as it is. Imports numba.

numba lets a negative index count from the end and tests for it at each access, which keeps LLVM
from seeing that neighbouring elements are neighbours: simple loops then compile to gathers.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from numba import types
from numba.core import cgutils
from numba.core.datamodel import models
from numba.extending import lower_builtin, register_model
from numba.np import arrayobj

if TYPE_CHECKING:
    from llvmlite import ir
    from numba.core.base import BaseContext
    from numba.core.typing import Signature


class KernelArray(types.Array):
    """A C-contiguous array whose indices are never negative."""

    def __init__(self, dtype: types.Type, ndim: int, readonly: bool) -> None:
        name = f"{'readonly ' if readonly else ''}kernel array({dtype}, {ndim}d)"
        super().__init__(dtype, ndim, "C", readonly=readonly, name=name)

    def copy(
        self,
        dtype: types.Type | None = None,
        ndim: int | None = None,
        layout: str | None = None,
        readonly: bool | None = None,
    ) -> types.Array:
        """The type of a view; a kernel array too as long as it is contiguous."""
        dtype = self.dtype if dtype is None else dtype
        ndim = self.ndim if ndim is None else ndim
        readonly = not self.mutable if readonly is None else readonly
        layout = layout or "C"
        if layout == "C":
            return KernelArray(dtype, ndim, readonly)
        return types.Array(dtype, ndim, layout, readonly=readonly)


register_model(KernelArray)(models.ArrayModel)


def _element(
    context: BaseContext,
    builder: ir.IRBuilder,
    kind: types.Array,
    value: ir.Value,
    index_kind: types.Type,
    index: ir.Value,
) -> ir.Value | None:
    """The address of one element; None when the index leaves dimensions or is not of integers."""
    if isinstance(index_kind, types.BaseTuple):
        kinds, indices = index_kind.types, cgutils.unpack_tuple(builder, index)
    else:
        kinds, indices = (index_kind,), [index]
    if len(kinds) != kind.ndim or not all(isinstance(k, types.Integer) for k in kinds):
        return None
    indices = [context.cast(builder, i, k, types.intp) for i, k in zip(indices, kinds, strict=True)]
    array = arrayobj.make_array(kind)(context, builder, value)
    return cgutils.get_item_pointer(context, builder, kind, array, indices, wraparound=False)


@lower_builtin(operator.getitem, KernelArray, types.Integer)
def _get(
    context: BaseContext,
    builder: ir.IRBuilder,
    signature: Signature,
    arguments: Sequence[ir.Value],
) -> ir.Value:
    return _load(context, builder, signature, arguments, arrayobj.getitem_arraynd_intp)


@lower_builtin(operator.getitem, KernelArray, types.BaseTuple)
def _get_tuple(
    context: BaseContext,
    builder: ir.IRBuilder,
    signature: Signature,
    arguments: Sequence[ir.Value],
) -> ir.Value:
    return _load(context, builder, signature, arguments, arrayobj.getitem_array_tuple)


def _load(
    context: BaseContext,
    builder: ir.IRBuilder,
    signature: Signature,
    arguments: Sequence[ir.Value],
    otherwise: Callable[[BaseContext, ir.IRBuilder, Signature, Sequence[ir.Value]], ir.Value],
) -> ir.Value:
    kind, index_kind = signature.args
    assert isinstance(kind, KernelArray)
    pointer = _element(context, builder, kind, arguments[0], index_kind, arguments[1])
    if pointer is None:
        return otherwise(context, builder, signature, arguments)
    return arrayobj.load_item(context, builder, kind, pointer)


@lower_builtin(operator.setitem, KernelArray, types.Any, types.Any)
def _set(
    context: BaseContext,
    builder: ir.IRBuilder,
    signature: Signature,
    arguments: Sequence[ir.Value],
) -> ir.Value:
    kind, index_kind, value_kind = signature.args
    assert isinstance(kind, KernelArray)
    pointer = _element(context, builder, kind, arguments[0], index_kind, arguments[1])
    if pointer is None:
        return arrayobj.setitem_array(context, builder, signature, arguments)
    value = context.cast(builder, arguments[2], value_kind, kind.dtype)
    arrayobj.store_item(context, builder, kind, value, pointer)
    return context.get_dummy_value()
