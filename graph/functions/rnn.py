"""Recurrent nets: a cell over the steps of sequences, as a loop or written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from ..core.graph import Tensor
from ..core.scopes import name_scope
from ..core.structure import flatten, map_structure, pack
from ..variables.variable_scope import VariableScope, variable_scope
from . import array, creation
from .casting import cast as as_dtype
from .loops import while_loop
from .rnn_cells import RNNCell, State
from .tensor_array import TensorArray

if TYPE_CHECKING:
    from ..core.typing import DTypeLike, TensorLike


def _below(n: Tensor | int) -> Callable[..., Tensor]:
    """The condition of a loop whose first variable counts to `n`."""

    def goes_on(time: Tensor, *variables: object) -> Tensor:
        return ops.Less(time, n)

    return goes_on


def _require_cell(name: str, cell: object) -> None:
    if not callable(cell):
        raise TypeError(f"The argument '{name}' ({cell}) is not an RNNCell: it is not callable.")


def _swapped(x: Tensor) -> Tensor:
    """[batch, time, ...] as [time, batch, ...], or back."""
    if x.shape is None:
        return ops.Transpose(x, ops.ConcatV2([[1, 0], ops.Range(2, creation.rank(x), 1)], 0))
    return array.transpose(x, [1, 0, *range(2, len(x.shape))])


def _swapped_leaf(x: object) -> Tensor:
    return _swapped(cast("Tensor", x))


def _zeros(x: object) -> Tensor:
    return ops.ZerosLike(cast("Tensor", x))


def _first_state(
    cell: RNNCell, initial: State | None, dtype: DTypeLike | None, batch: TensorLike
) -> State:
    if initial is not None:
        return cast("State", map_structure(_tensor, initial))
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch, dtype)


def _tensor(value: object) -> Tensor:
    return convert_to_tensor(cast("TensorLike", value))


def _chosen(runs: Tensor | None, new: object, old: object) -> object:
    """`new` in the rows that still run, `old` in the others."""
    if runs is None:
        return new

    def choose(a: object, b: object) -> Tensor:
        x, y = cast("Tensor", a), cast("Tensor", b)
        if x.shape == ():
            return x
        n = 1 if x.shape is None else len(x.shape) - 1
        rows = array.reshape(runs, [-1, *[1] * n])
        result = ops.SelectV2(rows, x, y)
        result.set_shape(x.shape)
        return result

    return map_structure(choose, new, old)


def _batch_size(x: Tensor, axis: int) -> Tensor | int:
    known = None if x.shape is None else x.shape[axis]
    return creation.shape(x)[axis] if known is None else known


def dynamic_rnn(
    cell: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state: State | None = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[object, State]:
    """Outputs of all steps, and the last state; a loop over the steps.

    Args:
        cell: An RNNCell.
        inputs: [batch, time, ...], or a nested structure of such.
        sequence_length: [batch]: behind its length a row gives zeros and keeps its state.
        initial_state: Zeros of `dtype` by default.
        dtype: Of the first state, where that is not given.
        parallel_iterations, swap_memory: Taken for TensorFlow's sake.
        time_major: Whether inputs and outputs are [time, batch, ...].
        scope: The variable scope, "rnn" by default.

    Raises:
        TypeError: `cell` is no cell.
        ValueError: There is neither a state nor a dtype; the depth is not known; lengths are not a
            vector.
    """
    _require_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        tensors = [_tensor(x) for x in flatten(inputs)]
        if not time_major:
            tensors = [_swapped(x) for x in tensors]
        lengths = None
        if sequence_length is not None:
            lengths = as_dtype(_tensor(sequence_length), np.int32)
            if lengths.shape is not None and len(lengths.shape) != 1:
                raise ValueError(
                    "sequence_length must be a vector of length batch_size, but saw shape: "
                    f"{lengths.get_shape()}"
                )
            lengths = ops.Identity(lengths, name="sequence_length")
        batch = _batch_size(tensors[0], 1)
        state = _first_state(cell, initial_state, dtype, batch)
        outputs, state = _steps(cell, inputs, tensors, state, lengths, batch)
        if not time_major:
            outputs = map_structure(_swapped_leaf, outputs)
        return outputs, state


def _steps(
    cell: RNNCell,
    structure: object,
    tensors: Sequence[Tensor],
    state: State,
    lengths: Tensor | None,
    batch: Tensor | int,
) -> tuple[object, State]:
    """All steps as a loop; inputs and outputs are [time, batch, ...]."""
    n_steps = _batch_size(tensors[0], 0)
    first = tensors[0].shape
    if first is not None and len(first) > 2 and first[-1] is None:
        raise ValueError(
            "Input size (depth of inputs) must be accessible via shape inference, but saw value "
            "None."
        )
    arrays = [TensorArray(x.dtype, size=n_steps).unstack(x) for x in tensors]
    sizes = flatten(cell.output_size)
    dtype = cast("Tensor", flatten(state)[0]).dtype
    written = [TensorArray(dtype, size=n_steps) for _ in sizes]

    def body(
        time: Tensor, results: list[TensorArray], before: State
    ) -> tuple[Tensor, list[TensorArray], State]:
        inputs = pack(structure, [x.read(time) for x in arrays])
        output, after = cell(cast("TensorLike", inputs), before)
        runs = None if lengths is None else ops.Less(time, lengths)
        after = cast("State", _chosen(runs, after, before))
        leaves = [cast("Tensor", leaf) for leaf in flatten(output)]
        leaves = [cast("Tensor", _chosen(runs, x, ops.ZerosLike(x))) for x in leaves]
        pairs = zip(results, leaves, strict=True)
        return time + 1, [array.write(time, x) for array, x in pairs], after

    _, results, last = cast(
        "tuple[Tensor, list[TensorArray], State]",
        while_loop(_below(n_steps), body, (np.int32(0), written, state)),
    )
    stacked = [array.stack() for array in results]
    known = batch if isinstance(batch, int) else None
    for x in stacked:
        if x.shape is not None:
            x.set_shape((n_steps if isinstance(n_steps, int) else None, known, *x.shape[2:]))
    return pack(cell.output_size, stacked), last


def bidirectional_dynamic_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: TensorLike,
    sequence_length: TensorLike | None = None,
    initial_state_fw: State | None = None,
    initial_state_bw: State | None = None,
    dtype: DTypeLike | None = None,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    time_major: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[tuple[object, object], tuple[State, State]]:
    """Outputs and last states of a cell from the first step on, and of one from the last step on.

    See `dynamic_rnn` for the arguments; the scope is "bidirectional_rnn" by default, with "fw" and
    "bw" in it.
    """
    _require_cell("cell_fw", cell_fw)
    _require_cell("cell_bw", cell_bw)
    time, rows = (0, 1) if time_major else (1, 0)

    def turned(x: object) -> Tensor:
        tensor = _tensor(x)
        if sequence_length is None:
            return ops.ReverseV2(tensor, np.array([time], np.int32))
        return ops.ReverseSequence(tensor, _tensor(sequence_length), seq_dim=time, batch_dim=rows)

    with variable_scope(scope or "bidirectional_rnn"):
        more = None, False, time_major
        with variable_scope("fw") as inner:
            forward, forward_state = dynamic_rnn(
                cell_fw, inputs, sequence_length, initial_state_fw, dtype, *more, inner
            )
        with variable_scope("bw") as inner:
            with name_scope("ReverseInputs"):
                reverse = map_structure(turned, inputs)
            backward, backward_state = dynamic_rnn(
                cell_bw,
                cast("TensorLike", reverse),
                sequence_length,
                initial_state_bw,
                dtype,
                *more,
                inner,
            )
        backward = map_structure(turned, backward)
    return (forward, backward), (forward_state, backward_state)


def static_rnn(
    cell: RNNCell,
    inputs: Sequence[TensorLike],
    initial_state: State | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[object], State]:
    """Outputs of the steps and the last state; the steps are written out one after another.

    Args:
        cell: An RNNCell.
        inputs: A list with the input of each step.
        initial_state, dtype, sequence_length, scope: As of `dynamic_rnn`.

    Raises:
        TypeError: `cell` is no cell, or `inputs` is no list.
        ValueError: `inputs` is empty.
    """
    _require_cell("cell", cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    outputs: list[object] = []
    with variable_scope(scope or "rnn") as entered:
        steps = [map_structure(_tensor, x) for x in inputs]
        first = cast("Tensor", flatten(steps[0])[0])
        state = _first_state(cell, initial_state, dtype, _batch_size(first, 0))
        lengths = None
        if sequence_length is not None:
            lengths = as_dtype(_tensor(sequence_length), np.int32)
        for time, step in enumerate(steps):
            if time > 0:
                entered.reuse_variables()
            output, after = cell(cast("TensorLike", step), state)
            runs = None if lengths is None else ops.Less(np.int32(time), lengths)
            state = cast("State", _chosen(runs, after, state))
            zeros = map_structure(_zeros, output)
            outputs.append(_chosen(runs, output, zeros))
    return outputs, state


def static_bidirectional_rnn(
    cell_fw: RNNCell,
    cell_bw: RNNCell,
    inputs: Sequence[TensorLike],
    initial_state_fw: State | None = None,
    initial_state_bw: State | None = None,
    dtype: DTypeLike | None = None,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[Tensor], State, State]:
    """Outputs of both directions side by side, and the last states; see `static_rnn`."""
    _require_cell("cell_fw", cell_fw)
    _require_cell("cell_bw", cell_bw)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, forward_state = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, inner
            )
        with variable_scope("bw") as inner:
            reverse = _reversed([_tensor(x) for x in inputs], sequence_length)
            backward, backward_state = static_rnn(
                cell_bw, reverse, initial_state_bw, dtype, sequence_length, inner
            )
        turned = _reversed([cast("Tensor", x) for x in backward], sequence_length)
    pairs = zip(cast("list[Tensor]", forward), turned, strict=True)
    return [array.concat([a, b], 1) for a, b in pairs], forward_state, backward_state


def _reversed(steps: list[Tensor], lengths: TensorLike | None) -> list[Tensor]:
    """The steps in reverse order, of each row only those within its length."""
    if lengths is None:
        return steps[::-1]
    stacked = array.stack(steps)
    turned = ops.ReverseSequence(stacked, _tensor(lengths), seq_dim=0, batch_dim=1)
    return array.unstack(turned, len(steps))
