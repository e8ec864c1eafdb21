"""`raw_rnn`: a recurrent net whose inputs, states and end a function decides in each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.dtype import as_numpy
from ..core.graph import Tensor
from ..core.structure import flatten, map_structure, pack
from ..core.tensor_shape import TensorShape
from ..variables.variable_scope import VariableScope, variable_scope
from . import array, creation
from .loops import while_loop
from .tensor_array import TensorArray

if TYPE_CHECKING:
    from ..core.typing import TensorLike
    from .rnn_cells import RNNCell, State

LoopFunction: TypeAlias = (
    "Callable[[object, object, object, object], tuple[object, object, object, object, object]]"
)


def raw_rnn(
    cell: RNNCell,
    loop_fn: LoopFunction,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[object, State, object]:
    """TensorArrays of what is emitted, the last state of the cell, and that of the loop.

    Args:
        cell: An RNNCell.
        loop_fn: A function of time, output and state of the cell and the loop's state, which are
            None at time 0. It gives which rows are finished, the next input, the next state of
            the cell (the first one at time 0), what to emit (None for the cell's output; at time
            0 tensors of one row's shape and type) and the loop's next state, or None.
        parallel_iterations, swap_memory: Taken for TensorFlow's sake.
        scope: The variable scope, "rnn" by default.

    Rows that are finished emit zeros and keep their state; it ends when all are.

    Raises:
        TypeError: `cell` is no cell, or `loop_fn` is no function.
    """
    if not callable(cell):
        raise TypeError(f"The argument 'cell' ({cell}) is not an RNNCell: it is not callable.")
    if not callable(loop_fn):
        raise TypeError(
            f"Argument `loop_fn` must be callable. Received type: {type(loop_fn).__name__}."
        )
    with variable_scope(scope or "rnn"):
        zero = convert_to_tensor(np.int32(0), name="time")
        finished, inputs, state, emitted, loop_state = loop_fn(zero, None, None, None)
        inputs, state = map_structure(_tensor, inputs), map_structure(_tensor, state)
        if emitted is None:
            emitted, row_shapes = cell.output_size, [_row(n) for n in flatten(cell.output_size)]
            dtypes = [cast("Tensor", flatten(state)[0]).dtype] * len(row_shapes)
        else:
            leaves = [_tensor(x) for x in flatten(emitted)]
            row_shapes, dtypes = [x.shape for x in leaves], [as_numpy(x.dtype) for x in leaves]
        batch = _batch(cast("Tensor", flatten(inputs)[0]))
        rows = [() if shape is None else shape for shape in row_shapes]
        arrays = [
            TensorArray(dtype, size=0, dynamic_size=True, element_shape=[batch[0], *row])
            for dtype, row in zip(dtypes, rows, strict=True)
        ]
        zeros = [
            creation.zeros(array.concat([[batch[1]], list(row)], 0) if row else [batch[1]], dtype)
            for dtype, row in zip(dtypes, rows, strict=True)
        ]
        has_state = loop_state is not None
        first = loop_state if has_state else np.int32(0)

        def goes_on(time: Tensor, done: Tensor, *variables: object) -> Tensor:
            every = ops.Range(np.int32(0), ops.Rank(done), np.int32(1))
            return ops.LogicalNot(ops.All(done, every))

        def body(
            time: Tensor, done: Tensor, current: object, written: list[TensorArray], before: object,
            loop: object,
        ) -> tuple[object, ...]:  # fmt: skip
            output, after = cell(cast("TensorLike", current), cast("State", before))
            following = time + 1
            ended, more, after, emit, next_loop = loop_fn(
                following, output, after, loop if has_state else None
            )
            emit = output if emit is None else emit
            after = map_structure(lambda old, new: _unless_done(done, old, new), before, after)
            chosen = [
                _unless_done(done, none, new)
                for none, new in zip(zeros, flatten(emit), strict=True)
            ]
            written = [x.write(time, y) for x, y in zip(written, chosen, strict=True)]
            done = ops.LogicalOr(done, _tensor(ended))
            return following, done, more, written, after, loop if next_loop is None else next_loop

        _, _, _, arrays, state, last = cast(
            "tuple[object, object, object, list[TensorArray], State, object]",
            while_loop(goes_on, body, (zero, _tensor(finished), inputs, arrays, state, first)),
        )
    return pack(emitted, arrays), state, last if has_state else None


def _tensor(value: object) -> Tensor:
    return (
        cast("Tensor", value)
        if isinstance(value, TensorArray)
        else convert_to_tensor(cast("TensorLike", value))
    )


def _row(size: object) -> tuple[int | None, ...]:
    """A size of a cell's output as the shape of one row."""
    shape = TensorShape(cast("int", size)).as_shape()
    return () if shape is None else shape


def _batch(x: Tensor) -> tuple[int | None, Tensor | int]:
    """The number of rows, as far as it is known, and as a number or tensor."""
    known = x.shape[0] if x.shape else None
    return known, ops.Shape(x)[0] if known is None else known


def _unless_done(done: Tensor, old: object, new: object) -> object:
    """`old` in the rows that are finished, `new` in the others; what has no rows is new."""
    if isinstance(new, TensorArray):
        return new
    x, y = _tensor(new), _tensor(old)
    if x.shape == ():
        return x
    n = 1 if x.shape is None else len(x.shape) - 1
    result = ops.SelectV2(array.reshape(done, [-1, *[1] * n]), y, x)
    result.set_shape(x.shape)
    return result
