"""Ops with state or chance: mostly only their shapes are known here."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ...core.function_graph import origin
from ...core.graph import Tensor
from ...core.registry import add_row
from ...core.shapes import (
    Shape,
    as_shape,
    known,
    merged,
    merged_shapes,
    require,
    same,
    scalar,
    shown,
    unknown,
)

if TYPE_CHECKING:
    from ...core.protocols import OperationView

for _name in ("VarHandleOp", "MutableHashTable", "MutableHashTableV2"):
    add_row(_name, None, scalar)
for _name in ("VarIsInitializedOp", "IsVariableInitialized"):
    add_row(_name, None, scalar)
for _name in ("Variable", "VariableV2"):
    add_row(_name, None, lambda op: op.get_attr("shape"))


def declared_shape(op: OperationView) -> Shape:
    """The shape the variable was declared with, when its handle is at hand."""
    handle = op.inputs[0]
    variable = origin(handle).op if isinstance(handle, Tensor) else None
    if variable is None or variable.type != "VarHandleOp":
        return None
    return variable.get_attr("shape")


add_row("ReadVariableOp", None, declared_shape)
add_row("VariableShape", None, unknown)


def _gathered_shape(op: OperationView) -> Shape:
    variable, indices = declared_shape(op), op.inputs[1].sizes
    batch = op.get_attr("batch_dims")
    if variable is None or indices is None or batch:
        return None
    return indices + variable[1:]


def _gathered_nd_shape(op: OperationView) -> Shape:
    variable, indices = declared_shape(op), op.inputs[1].sizes
    if variable is None or indices is None or indices[-1] is None:
        return None
    return indices[:-1] + variable[indices[-1] :]


add_row("ResourceGather", None, _gathered_shape)
add_row("ResourceGatherNd", None, _gathered_nd_shape)


for _name in (
    "RandomStandardNormal",
    "RandomUniform",
    "StatelessRandomBinomial",
    "StatelessRandomGammaV2",
    "StatelessRandomGammaV3",
    "StatelessRandomPoisson",
    "TruncatedNormal",
):
    add_row(_name, None, lambda op: as_shape(op, 0))
add_row("RandomShuffle", None, same)


def _drawn_integers_shape(op: OperationView) -> Shape:
    for i, name in ((1, "minval"), (2, "maxval")):
        shape = op.inputs[i].sizes
        words = f"{name} must be a scalar; got a tensor of shape {shape and shown(shape)}"
        require(op, shape in (None, ()), words)
    return as_shape(op, 0)


add_row("RandomUniformInt", None, _drawn_integers_shape)


def _samples_shape(op: OperationView) -> Shape:
    samples = op.inputs[1].value
    n = None if samples is None or np.ndim(samples) else int(samples)
    require(
        op,
        n is None or n >= 0,
        f"Dimension size, given by scalar input 1, must be non-negative but is {n}",
    )
    return (known(op, 0, 2)[0], n)


for _name in ("Multinomial", "StatelessMultinomial"):
    add_row(_name, None, _samples_shape)


def _draws_shape(op: OperationView) -> Shape:
    draws, parameters = as_shape(op, 0), op.inputs[1].sizes
    return None if draws is None or parameters is None else draws + parameters


for _name in ("RandomGamma", "RandomPoissonV2"):
    add_row(_name, None, _draws_shape)


def _assign_add(ref: np.ndarray, value: np.ndarray) -> None:
    """ref += value."""
    _require_equal_shapes(ref, value)
    np.add(ref, value, out=ref)


def _assign_sub(ref: np.ndarray, value: np.ndarray) -> None:
    """ref -= value."""
    _require_equal_shapes(ref, value)
    np.subtract(ref, value, out=ref)


def _require_equal_shapes(ref: np.ndarray, value: np.ndarray) -> None:
    """Raises ValueError unless a variable and what changes it have one shape."""
    if ref.shape != value.shape:
        raise ValueError(
            f"Cannot update variable with shape {shown(ref.shape)} using a Tensor with shape "
            f"{shown(value.shape)}, shapes must be equal.",
        )


def _assigned_shape(op: OperationView) -> Shape:
    """That of the variable, which is that of the value when it is to be checked."""
    if op.get_attr("validate_shape"):
        return merged(op, (0, 1))
    return op.inputs[1].sizes


def _changed(op: OperationView) -> list[Shape]:
    """Nothing, where the value has the shape of the variable."""
    merged_shapes(op, declared_shape(op), op.inputs[1].sizes)
    return []


for _kind, _kernel in (("Add", _assign_add), ("Sub", _assign_sub)):
    _references = partial(merged, indices=(0, 1))
    add_row(f"Assign{_kind}", _kernel, _references, pure=False, writes=(0,))
    _handles = f"Assign{_kind}VariableOp"
    add_row(_handles, _kernel, _changed, pure=False, writes=(0,))
add_row("Assign", None, _assigned_shape)
add_row("AssignVariableOp", None, lambda op: [])
