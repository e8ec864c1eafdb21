"""Loops over the steps of a sequence, as TensorFlow's While with functions for its graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...graph.core.graph import Graph, Tensor
from ...graph.core.library import Function
from ...graph.core.signatures.attributes import FunctionRef

if TYPE_CHECKING:
    from .registry import Call

Traced = Callable[..., Sequence[Tensor]]


def traced(call: Call, name: str, arguments: Sequence[Tensor], write: Traced) -> FunctionRef:
    """A function of tensors like `arguments`, whose results `write(call, *tensors)` gives."""
    body = Graph(call.graph.functions)
    body.inputs = []
    for i, like in enumerate(arguments):
        attrs = {"T": like.dtype, "index": i}
        tensor = body.add("_Arg", f"arg_{i}", (), attrs).outputs[0]
        tensor.set_shape(like.sizes)
        body.inputs.append(tensor)
    body.outputs = list(write(call.on(body), *body.inputs))
    name = call.graph.functions.unique_name(f"{call.scope}/{name}".replace("/", "_"))
    call.graph.functions.add(Function.of(name, body))
    return FunctionRef(name, {})


def while_loop(
    call: Call, values: Sequence[Tensor], condition: Traced, body: Traced
) -> list[Tensor]:
    """What `values` are once `condition` no longer holds; `body` gives the next ones."""
    results = call.ops(
        "StatelessWhile",
        *values,
        cond=traced(call, "cond", values, condition),
        body=traced(call, "body", values, body),
        T=[value.dtype for value in values],
        output_shapes=[value.sizes for value in values],
    )
    for result, value in zip(results, values, strict=True):
        result.set_shape(value.sizes)
    return results


def reserved(call: Call, item_shape: Sequence[int | None], dtype: np.dtype, n: Tensor) -> Tensor:
    """A list of `n` tensors of one shape."""
    shape = call.constant([-1 if size is None else size for size in item_shape])
    return call.op(
        "TensorListReserve", shape, n, element_dtype=dtype, shape_type=np.dtype(np.int32)
    )


def stacked(
    call: Call, handle: Tensor, item_shape: Sequence[int | None], dtype: np.dtype, n: int | None
) -> Tensor:
    """The tensors of a list, one behind the other along a new second axis: steps of sequences."""
    shape = call.constant([-1 if size is None else size for size in item_shape])
    count = -1 if n is None else n
    y = call.op("TensorListStack", handle, shape, element_dtype=dtype, num_elements=count)
    y.set_shape((n, *item_shape))
    order = [1, 0, *range(2, len(item_shape) + 1)]
    return call.op("Transpose", y, call.constant(order))
