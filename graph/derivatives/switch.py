"""Derivatives of branches as TensorFlow 1 writes them: back through a Switch goes a Merge.

x -> Switch -> branches -> Merge -> y          dy -> Switch -> derivatives -> Merge -> dx
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.composite.indexed_slices import IndexedSlices
from .backward_graph import flows, gradient_dtype, is_handle, is_variable, shape_for
from .dataflow_loops import UnknownForm, choice_of
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor
    from .registry import Gradient


@gradient("Merge", "RefMerge")
def merge(op: Operation, dy: Tensor | None, _: Tensor | None) -> list[Tensor | None]:
    """To the side that was taken."""
    if dy is None:
        return [None] * len(op.inputs)
    try:
        choice = choice_of(op)
    except UnknownForm as error:
        words = f"No gradient defined for operation '{op.name}' (op type: {op.type}). {error}"
        raise LookupError(words) from None
    otherwise, taken = ops.Switch(dy, choice.condition)
    return [taken, otherwise] if choice.true_index == 0 else [otherwise, taken]


@gradient("Switch", "RefSwitch", takes_slices=True)
def switch(op: Operation, dfalse: Gradient | None, dtrue: Gradient | None) -> list[Gradient | None]:
    """That of the side that was taken; rows where the sides have rows, as in TensorFlow."""
    if not flows(op.inputs[0]) or not is_variable(op.inputs[0]):
        return [None, None]
    sides = [*zip(op.outputs, (dfalse, dtrue), strict=True)]
    if any(isinstance(gradient, IndexedSlices) for _, gradient in sides):
        rows = [_rows(output, gradient) for output, gradient in sides]
        values = ops.Merge([row.values for row in rows])[0]
        indices = ops.Merge([row.indices for row in rows])[0]
        return [IndexedSlices(values, indices, shape_for(op.inputs[0])), None]
    whole = [_zeros(output) if dy is None else dy for output, dy in sides]
    return [ops.Merge(whole)[0], None]


def _zeros(output: Tensor) -> Tensor:
    """Zeros like the gradient of a side's output, alive where that is."""
    if not is_handle(output):
        return ops.ZerosLike(output)
    return ops.Fill(ops.VariableShape(output), np.zeros((), gradient_dtype(output)))


def _rows(output: Tensor, gradient: Gradient | None) -> IndexedSlices:
    """A gradient as rows with indices of int64, all of them where it is no part of them."""
    wide = np.dtype(np.int64)
    if isinstance(gradient, IndexedSlices):
        return IndexedSlices(gradient.values, ops.Cast(gradient.indices, DstT=wide))
    values = _zeros(output) if gradient is None else gradient
    n_rows = ops.Cast(ops.Shape(values)[0], DstT=wide)
    return IndexedSlices(values, ops.Range(np.int64(0), n_rows, np.int64(1)))
