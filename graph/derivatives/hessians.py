"""Second derivatives: `tf.hessians`."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops, shape_of
from ..core.composite.indexed_slices import dense
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import name_scope
from ..functions.flow.loops import while_loop
from ..functions.flow.tensor_array import TensorArray
from .gradients import Differentiable, as_tensor, gradients

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..core.typing import TensorLike

NO_VALUES = "None values not supported."


def hessians(
    ys: Differentiable | Sequence[Differentiable],
    xs: Differentiable | Sequence[Differentiable],
    name: str = "hessians",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
) -> list[Tensor]:
    """The matrices of second derivatives of the sum of `ys` by each of `xs`.

    Args:
        ys: A tensor, or a list of them.
        xs: A tensor or variable, or a list of them.
        name: The name scope of the new operations.
        colocate_gradients_with_ops, gate_gradients, aggregation_method: As of `gradients`.

    Returns:
        For each x of shape s a tensor of shape s + s.

    Raises:
        LookupError: An operation has no derivative, or its derivative has none.
        ValueError: No y depends on an x, or none of the first derivatives does.
    """
    variables = list(xs) if isinstance(xs, (list, tuple)) else [cast("Differentiable", xs)]
    with name_scope(name):
        first = gradients(
            ys,
            variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops,
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
        )
        second: list[Tensor] = []
        for gradient, x in zip(first, variables, strict=True):
            if gradient is None:
                failed = "Tried to convert 'tensor' to a tensor and failed. Error: "
                raise ValueError(f"{failed}{NO_VALUES} No y depends on '{as_tensor(x).name}'.")
            second.append(_derivatives(dense(gradient), x, gate_gradients, aggregation_method))
        return second


def _derivatives(
    gradient: Tensor, x: Differentiable, gate_gradients: bool, aggregation_method: int | None
) -> Tensor:
    """The derivatives of each element of a gradient by x, in a loop over the elements."""
    value = convert_to_tensor(cast("TensorLike", x))
    elements = ops.Reshape(gradient, np.array([-1], np.int32))
    n = ops.Size(value)

    def step(i: Tensor, rows: TensorArray) -> tuple[Tensor, TensorArray]:
        (row,) = gradients(
            ops.GatherV2(elements, i, np.int32(0)),
            [x],
            gate_gradients=gate_gradients,
            aggregation_method=aggregation_method,
        )
        if row is None:
            words = f"No derivative of the ys by '{as_tensor(x).name}' depends on it."
            raise ValueError(f"{NO_VALUES} {words}")
        return i + 1, rows.write(i, dense(row))

    def is_left(i: Tensor, rows: TensorArray) -> Tensor:
        return ops.Less(i, n)

    start = ops.Identity(np.int32(0)), TensorArray(value.dtype, n, element_shape=value.sizes)
    loop = while_loop(is_left, step, start)
    _, rows = cast("tuple[Tensor, TensorArray]", loop)
    shape = shape_of(value)
    result = ops.Reshape(rows.stack(), ops.ConcatV2([shape, shape], np.int32(0)))
    if value.sizes is not None:
        result.set_shape((*value.sizes, *value.sizes))
    return result
