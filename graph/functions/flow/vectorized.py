"""A function of all slices at once: `vectorized_map`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...core.build import ops
from ...core.composite.structure import flatten, pack
from ...core.create import convert_to_tensor
from ...core.function_graph import trace_graph
from ...core.graph import Operation, Tensor
from ...core.scopes import get_default_graph, name_scope
from ...vectorization.registry import Call, Options, Value
from ...vectorization.rewrite import over_rows
from .functional import map_fn

if TYPE_CHECKING:
    from ...core.typing import TensorLike


def vectorized_map(
    fn: Callable[..., object],
    elems: object,
    fallback_to_while_loop: bool = True,
    warn: bool = True,
) -> object:
    """What `fn` gives for each slice of `elems` along the first axis, computed for all at once.

    Every operation of `fn` becomes one on all slices. Random numbers are drawn for all at once.

    Args:
        fn: A function of a slice, or of slices in the structure of `elems`.
        elems: A tensor or a nested structure of tensors [n, ...]; [1, ...] is the same for all n.
        fallback_to_while_loop: Whether an operation without a form for all slices is done slice by
            slice.
        warn: Whether a warning says which operations these are.

    Returns:
        [n, ...] for each tensor that `fn` gives, in their structure.

    Raises:
        TypeError: `fn` is no function.
        ValueError: An operation has no form for all slices, and `fallback_to_while_loop` is False;
            or the elements have unequal lengths.
    """
    if not callable(fn):
        raise TypeError(f"The provided function {fn!r} is not callable.fn must be callable.")
    with name_scope(None, "vectorized_map", None):
        tensors = [convert_to_tensor(cast("TensorLike", elem)) for elem in flatten(elems)]
        lengths = [_length(tensor) for tensor in tensors]
        n = _count(tensors, lengths)
        body = trace_graph()
        arguments = [body.parameter(x.dtype, x.sizes and x.sizes[1:], "slice") for x in tensors]
        with body.as_default():
            returned = fn(pack(elems, arguments))
            outputs = [convert_to_tensor(cast("TensorLike", leaf)) for leaf in flatten(returned)]
            outputs = [body.capture(output) for output in outputs]
        values = {inside: Value(tensor, False) for tensor, inside in body.captures.items()}
        for argument, tensor, length in zip(arguments, tensors, lengths, strict=True):
            values[argument] = _slices(tensor, length == 1 and set(lengths) != {1})
        one_by_one = _SliceBySlice(warn) if fallback_to_while_loop else None
        rows = over_rows(outputs, values, convert_to_tensor(n), Options(_draw, one_by_one))
        return pack(returned, [_stacked(row, n) for row in rows])


def _length(tensor: Tensor) -> int | None:
    """How many slices a tensor has; None where it is not known."""
    if tensor.sizes == ():
        raise ValueError(f"elements must have at least one dimension, got {tensor}")
    return None if tensor.sizes is None else tensor.sizes[0]


def _count(tensors: Sequence[Tensor], lengths: Sequence[int | None]) -> Tensor | int:
    """How many slices there are: a number where it is known."""
    if not tensors:
        raise ValueError("elems must be a Tensor or (possibly nested) sequence of Tensors")
    known = {length for length in lengths if length not in (None, 1)}
    if len(known) > 1:
        raise ValueError(f"elements must have equally many slices, got {sorted(map(int, known))}")
    if None not in lengths:
        return max(cast("Sequence[int]", lengths))
    counts = [ops.Shape(tensor)[0] for tensor in tensors]
    return ops.Max(ops.Pack(counts), np.int32(0))


def _slices(tensor: Tensor, is_same: bool) -> Value:
    """What takes the place of a slice of a tensor; of its only one where it is the same for all."""
    return Value(ops.Squeeze(tensor, squeeze_dims=[0]) if is_same else tensor, not is_same)


def _stacked(row: Value, n: Tensor | int) -> Tensor:
    tensor = row.tensor
    if not row.is_stacked:
        count = ops.Reshape(convert_to_tensor(n), np.ones(1, np.int32))
        sizes = ops.ConcatV2([count, ops.Shape(tensor)], np.int32(0))
        return ops.BroadcastTo(ops.ExpandDims(tensor, np.int32(0)), sizes)
    if isinstance(n, int) and tensor.sizes is not None:
        tensor.set_shape((n, *tensor.sizes[1:]))
    return tensor


def _draw(call: Call, sizes: Tensor) -> Sequence[Tensor]:
    """Random numbers of all slices from one draw."""
    return call.again(sizes, *(call.one(i) for i in range(1, len(call.inputs))))


class _SliceBySlice:
    """Computes an operation for one slice after the other, in a loop."""

    def __init__(self, warns: bool):
        self._warns = warns

    def __call__(self, call: Call) -> Sequence[Tensor]:
        """The results of all slices."""
        op = call.op
        if self._warns:
            words = (
                f"{op.type} '{op.name}' has no form for all slices at once: it is done in a loop"
            )
            warnings.warn(words, stacklevel=2)
        stacked = [value.tensor for value in call.inputs if value.is_stacked]

        def on_slice(slices: list[Tensor]) -> list[Tensor]:
            varying = iter(slices[1:])
            inputs = [next(varying) if v.is_stacked else v.tensor for v in call.inputs]
            return list(_again(op, inputs))

        dtypes = [output.dtype for output in op.outputs]
        counter = ops.Range(np.int32(0), call.n, np.int32(1))
        return cast("list[Tensor]", map_fn(on_slice, [counter, *stacked], dtype=dtypes))


def _again(op: Operation, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """The results of an operation like another one, in the default graph."""
    graph = get_default_graph()
    inside = [graph.as_graph_element(x, allow_operation=False) for x in inputs]
    name = graph.unique_name(op.type)
    return graph.add(op.type, name, inside, op.attrs, (), op.device, len(op.outputs)).outputs
