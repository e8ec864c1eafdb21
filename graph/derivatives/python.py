"""The derivative of Python functions of tensors: that of what they do, when they do it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from ..core.build import ops
from ..core.composite.indexed_slices import dense
from ..core.create import convert_to_tensor
from ..functions.flow.functional import PY_FUNCTIONS, py_function
from .gradients import gradients
from .registry import gradient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..core.graph import Operation, Tensor
    from ..core.typing import TensorLike


@gradient("EagerPyFunc")
def call(op: Operation, *dys: Tensor | None) -> list[Tensor | None]:
    """The function once more, and the gradients of its results."""
    token = cast("bytes", op.get_attr("token")).decode()
    function = cast("Callable[..., object]", op.graph.scopes.extras[PY_FUNCTIONS][token])
    positions = [i for i, dy in enumerate(dys) if dy is not None]
    n_inputs = len(op.inputs)

    def backward(*tensors: Tensor) -> list[Tensor]:
        xs, grad_ys = list(tensors[:n_inputs]), list(tensors[n_inputs:])
        returned = function(*xs)
        is_list = isinstance(returned, (list, tuple))
        listed = cast("Sequence[object]", returned) if is_list else [returned]
        ys = [convert_to_tensor(cast("TensorLike", listed[i])) for i in positions]
        derivatives = gradients(ys, xs, grad_ys)
        return [
            ops.ZerosLike(x) if new is None else dense(new)
            for x, new in zip(xs, derivatives, strict=True)
        ]

    types = [tensor.dtype for tensor in op.inputs]
    operands = [*op.inputs, *(cast("Tensor", dys[i]) for i in positions)]
    results = cast("list[Tensor]", py_function(backward, operands, types))
    for tensor, x in zip(results, op.inputs, strict=True):
        tensor.set_shape(x.sizes)
    return list(results)
