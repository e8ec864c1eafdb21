"""Slots: the variables an optimizer keeps beside each one it trains, named `<variable>/<name>`."""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from ...graph.core.build import ops
from ...graph.core.graph import Tensor
from ...graph.core.scopes import colocate_with
from ...graph.core.shapes import is_static
from ...graph.variables.get_variable import get_variable
from ...graph.variables.initializers import Initializer, zeros_initializer
from ...graph.variables.slice_info import SaveSliceInfo
from ...graph.variables.variable_scope import variable_scope
from ...graph.variables.variables import Variable


def beside(primary: Variable | Tensor) -> AbstractContextManager[None]:
    """A block whose operations stand where a variable does."""
    return colocate_with(primary.op)


def create_slot(primary: Variable | Tensor, value: Tensor, name: str) -> Variable:
    """A variable of the kind of `primary`, not trainable, that starts with `value`."""
    with variable_scope(None, f"{primary.op.name}/{name}"), beside(primary):
        slot = get_variable(
            "",
            initializer=value,
            trainable=False,
            use_resource=is_resource(primary),
            validate_shape=is_static(value.sizes),
        )
    return _in_parts(slot, primary)


def create_zeros_slot(primary: Variable | Tensor, name: str, dtype=None) -> Variable:
    """A variable of the kind and shape of `primary`, not trainable, that starts with zeros."""
    dtype = np.dtype(dtype or primary.dtype)
    if not is_static(primary.sizes):
        sizes = ops.Shape(primary if isinstance(primary, Tensor) else primary.initialized_value())
        return create_slot(primary, ops.Fill(sizes, np.zeros((), dtype)), name)
    with variable_scope(None, f"{primary.op.name}/{name}"), beside(primary):
        slot = get_variable(
            "",
            shape=primary.sizes,
            dtype=dtype,
            initializer=zeros_initializer(),
            trainable=False,
            use_resource=is_resource(primary),
        )
    return _in_parts(slot, primary)


def _in_parts(slot: Variable, primary: Variable | Tensor) -> Variable:
    """The slot, which is a part of the whole's slot where `primary` is a part of a variable."""
    part = getattr(primary, "save_slice_info", None)
    if part is not None:
        slot_name = slot.op.name.removeprefix(f"{primary.op.name}/")
        slot.save_slice_info = SaveSliceInfo(
            f"{part.full_name}/{slot_name}", part.full_shape, part.var_offset, part.var_shape
        )
    return slot


def is_resource(variable: Variable | Tensor) -> bool:
    """Whether a variable is behind a handle, not a reference."""
    return variable.op.type == "VarHandleOp"


def create_slot_with_initializer(
    primary: Variable, initializer: Initializer, dtype: np.dtype, name: str
) -> Variable:
    """A variable of the kind and shape of `primary`, not trainable, as `initializer` makes it."""
    if not is_static(primary.sizes):
        ones = ops.OnesLike(primary.initialized_value())
        value = ops.Mul(ops.Cast(ones, DstT=dtype), initializer((), dtype))
        return create_slot(primary, value, name)
    with variable_scope(None, f"{primary.op.name}/{name}"), beside(primary):
        slot = get_variable(
            "",
            shape=primary.sizes,
            dtype=dtype,
            initializer=initializer,
            trainable=False,
            use_resource=is_resource(primary),
        )
    return _in_parts(slot, primary)
