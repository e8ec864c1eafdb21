"""Recurrent nets: a cell over the steps of sequences, as a loop or written out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, cast

import numpy as np

from ...core.build import ops
from ...core.composite.structure import flatten, map_structure, pack
from ...core.create import convert_to_tensor
from ...core.dtype import as_numpy
from ...core.graph import Operation, Tensor
from ...core.scopes import control_dependencies, name_scope
from ...variables.variable_scope import VariableScope, variable_scope
from ..array import array, creation
from ..array.casting import cast as as_dtype
from ..flow.loops import while_loop
from ..flow.tensor_array import TensorArray
from ..math.reductions import reduce_all
from .cells import RNNCell, State, shape_of
from .wrappers import require_cell

if TYPE_CHECKING:
    from ...core.typing import DTypeLike, TensorLike
    from .cells import Size


def _below(n: Tensor | int) -> Callable[..., Tensor]:
    """The condition of a loop whose first variable counts to `n`."""

    def goes_on(time: Tensor, *variables: object) -> Tensor:
        return ops.Less(time, n)

    return goes_on


def _swapped(x: Tensor) -> Tensor:
    """[batch, time, ...] as [time, batch, ...], or back."""
    if x.sizes is None:
        return ops.Transpose(x, ops.ConcatV2([[1, 0], ops.Range(2, creation.rank(x), 1)], 0))
    return array.transpose(x, [1, 0, *range(2, len(x.sizes))])


def _swapped_leaf(x: object) -> Tensor:
    return _swapped(cast("Tensor", x))


def _zeros(x: object) -> Tensor:
    return ops.ZerosLike(cast("Tensor", x))


def _first_state(
    cell: RNNCell, initial: State | None, dtype: DTypeLike | None, batch: TensorLike
) -> State:
    if initial is not None:
        return cast("State", map_structure(_state_leaf, initial))
    if dtype is None:
        raise ValueError("If no initial_state is provided, argument `dtype` must be specified")
    return cell.zero_state(batch, dtype)


def _tensor(value: object) -> Tensor:
    return convert_to_tensor(cast("TensorLike", value))


def _state_leaf(value: object) -> Tensor | TensorArray:
    return value if isinstance(value, TensorArray) else _tensor(value)


def _chosen(runs: Tensor | None, new: object, old: object) -> object:
    """`new` in the rows that still run, `old` in the others; scalars and arrays are always new."""
    if runs is None:
        return new

    def choose(a: object, b: object) -> Tensor | TensorArray:
        if isinstance(a, TensorArray):
            return a
        x, y = cast("Tensor", a), cast("Tensor", b)
        if x.sizes == ():
            return x
        n = 1 if x.sizes is None else len(x.sizes) - 1
        rows = array.reshape(runs, [-1, *[1] * n])
        result = ops.SelectV2(rows, x, y)
        result.set_shape(x.sizes)
        return result

    return map_structure(choose, new, old)


def _batch_size(x: Tensor, axis: int) -> Tensor | int:
    known = None if x.sizes is None else x.sizes[axis]
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
    require_cell("cell", cell)
    with variable_scope(scope or "rnn"):
        tensors = [_tensor(x) for x in flatten(inputs)]
        for tensor in tensors:
            if tensor.sizes is not None and len(tensor.sizes) < 2:
                raise ValueError(
                    f"Input tensor should have rank >= 2. Received input={tensor} of rank "
                    f"{len(tensor.sizes)}"
                )
        if not time_major:
            tensors = [_swapped(x) for x in tensors]
        lengths = _lengths(sequence_length, "sequence_length")
        batch = _batch_size(tensors[0], 1)
        if lengths is not None:
            lengths = _of_batch(lengths, batch)
        state = _first_state(cell, initial_state, dtype, batch)
        kind = _output_dtype(dtype, state)
        outputs, state = _steps(cell, inputs, tensors, state, lengths, batch, kind)
        if not time_major:
            outputs = map_structure(_swapped_leaf, outputs)
        return outputs, state


def _lengths(sequence_length: TensorLike | None, name: str = "`sequence_length`") -> Tensor | None:
    """The number of steps of each row, None where all have all."""
    if sequence_length is None:
        return None
    lengths = as_dtype(_tensor(sequence_length), np.int32)
    if lengths.sizes is not None and len(lengths.sizes) != 1:
        raise ValueError(
            f"Argument {name} must be a vector of length batch_size. Received "
            f"sequence_length={sequence_length} of shape: {lengths.get_shape()}"
        )
    return lengths


def _of_batch(lengths: Tensor, batch: Tensor | int) -> Tensor:
    """As many lengths as there are rows, which is seen to in the run where it is not known."""
    if lengths.sizes == (batch,):
        return ops.Identity(lengths, name="sequence_length")
    rows = array.reshape(lengths, array.stack([batch]), name="sequence_length")
    rows.set_shape([batch if isinstance(batch, int) else None])
    return rows


def _output_dtype(dtype: DTypeLike | None, state: State) -> np.dtype:
    """The type of outputs: the one that was asked for, else that of the whole state."""
    if dtype is not None:
        return as_numpy(dtype)
    kinds = [np.dtype(cast("Tensor", leaf).dtype) for leaf in flatten(state)]
    if not kinds:
        raise ValueError(f"Unable to infer dtype from empty state: {state}")
    if len(set(kinds)) > 1:
        raise ValueError(
            "State has tensors of different inferred_dtypes. Unable to infer a single "
            f"representative dtype: {', '.join(map(str, kinds))}; give `dtype`"
        )
    return kinds[0]


def _steps(
    cell: RNNCell,
    structure: object,
    tensors: Sequence[Tensor],
    state: State,
    lengths: Tensor | None,
    batch: Tensor | int,
    dtype: np.dtype,
) -> tuple[object, State]:
    """All steps as a loop; inputs and outputs are [time, batch, ...]."""
    n_steps = _batch_size(tensors[0], 0)
    first = tensors[0].sizes
    if first is not None and len(first) > 2 and first[-1] is None:
        raise ValueError(
            "Input size (depth of inputs) must be accessible via shape inference, but saw value "
            "None."
        )
    arrays = [TensorArray(x.dtype, size=n_steps).unstack(x) for x in tensors]
    sizes = flatten(cell.output_size)
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
        if x.sizes is not None:
            x.set_shape((n_steps if isinstance(n_steps, int) else None, known, *x.sizes[2:]))
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
    """Outputs and last states of one cell from the first step on, and of one from the last step on.

    Args:
        cell_fw, cell_bw: The cells.
        inputs: [batch, time, ...], or [time, batch, ...] with `time_major`.
        sequence_length: [batch], int32 or int64: how many steps of each row count; the backward
            cell begins at the last of these.
        initial_state_fw, initial_state_bw: Of the cells; zeros by default.
        dtype: Of the states where there are none yet.
        parallel_iterations, swap_memory: Taken for TensorFlow's sake.
        time_major: Whether time comes first, in the outputs, too.
        scope: "bidirectional_rnn" by default, with "fw" and "bw" in it.

    Returns (outputs forward, outputs backward), (state forward, state backward); backward outputs
    stand at the steps of their inputs.

    Raises TypeError for what is no cell, and what `dynamic_rnn` does.
    """
    require_cell("cell_fw", cell_fw)
    require_cell("cell_bw", cell_bw)
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
    require_cell("cell", cell)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    outputs: list[object] = []
    with variable_scope(scope or "rnn") as entered:
        steps = [map_structure(_tensor, x) for x in inputs]
        batch = _batch_size(cast("Tensor", flatten(steps[0])[0]), 0)
        state = _first_state(cell, initial_state, dtype, batch)
        lengths = _lengths(sequence_length)
        if lengths is not None:
            lengths = _of_batch(lengths, batch)
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
) -> tuple[list[object], State, State]:
    """Outputs of both directions side by side, and the last states, with the steps written out.

    Args:
        cell_fw, cell_bw: The cells.
        inputs: A list of steps, [batch, depth] each.
        initial_state_fw, initial_state_bw: Of the cells; zeros by default.
        dtype: Of the states where there are none yet.
        sequence_length: [batch], int32 or int64: how many steps of each row count.
        scope: "bidirectional_rnn" by default, with "fw" and "bw" in it.

    Returns a list of [batch, output_size forward + backward], and the state of each cell.

    Raises TypeError for what is no cell or no list, ValueError for an empty list.
    """
    require_cell("cell_fw", cell_fw)
    require_cell("cell_bw", cell_bw)
    if not isinstance(inputs, (list, tuple)):
        raise TypeError(f"Argument `inputs` must be a sequence. Received: {inputs}")
    if not inputs:
        raise ValueError("Argument `inputs` must not be empty.")
    with variable_scope(scope or "bidirectional_rnn"):
        with variable_scope("fw") as inner:
            forward, forward_state = static_rnn(
                cell_fw, inputs, initial_state_fw, dtype, sequence_length, inner
            )
        with variable_scope("bw") as inner:
            reverse = cast("list[TensorLike]", _reversed(inputs, sequence_length))
            backward, backward_state = static_rnn(
                cell_bw, reverse, initial_state_bw, dtype, sequence_length, inner
            )
        turned = _reversed(backward, sequence_length)
    pairs = zip(forward, turned, strict=True)
    outputs = [map_structure(_beside, a, b) for a, b in pairs]
    return outputs, forward_state, backward_state


def _beside(a: object, b: object) -> Tensor:
    return array.concat([cast("Tensor", a), cast("Tensor", b)], 1)


def _reversed(steps: Sequence[object], lengths: TensorLike | None) -> list[object]:
    """The steps, tensors or structures, in reverse; of each row only those within its length."""
    if lengths is None:
        return list(steps[::-1])
    columns: list[list[Tensor]] = []
    for parts in zip(*(flatten(step) for step in steps), strict=True):
        stacked = array.stack([_tensor(x) for x in parts])
        turned = ops.ReverseSequence(stacked, _tensor(lengths), seq_dim=0, batch_dim=1)
        columns.append(array.unstack(turned, len(steps)))
    return [pack(steps[0], list(parts)) for parts in zip(*columns, strict=True)]


class StateSaver(Protocol):
    """Keeps states by name from run to run."""

    def state(self, name: str) -> Tensor:
        """The state that was kept."""
        ...

    def save_state(self, name: str, value: Tensor) -> Tensor | Operation:
        """What keeps a state when it is run."""
        ...


def static_state_saving_rnn(
    cell: RNNCell,
    inputs: Sequence[TensorLike],
    state_saver: StateSaver,
    state_name: object,
    sequence_length: TensorLike | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[list[object], State]:
    """`static_rnn` from a state that an object keeps; the last one is kept when results are run.

    Args:
        cell: An RNNCell.
        inputs: A list with the input of each step.
        state_saver: Has `state(name)` and `save_state(name, value)`.
        state_name: The names of the states, in the structure of `cell.state_size`.
        sequence_length, scope: As of `static_rnn`.

    Raises ValueError when names and states differ in number or kind.
    """
    size = cell.state_size
    is_nested = isinstance(size, (list, tuple))
    if is_nested != isinstance(state_name, (list, tuple)):
        raise ValueError(
            "Argument `state_name` should be the same type as `cell.state_size`. Received: "
            f"state_name={state_name}, cell.state_size={size}."
        )
    names = [cast("str", name) for name in flatten(state_name)]
    if len(names) != len(flatten(size)):
        raise ValueError(
            "Number of elements in argument `state_name` and `cell.state_size` are mismatched. "
            f"Received state_name={state_name} with {len(names)} elements and "
            f"cell.state_size={size} with {len(flatten(size))} elements."
        )
    initial = cast("State", pack(size, [state_saver.state(name) for name in names]))
    outputs, state = static_rnn(cell, inputs, initial, None, sequence_length, scope)
    leaves = [cast("Tensor", leaf) for leaf in flatten(state)]
    saves = [state_saver.save_state(name, x) for name, x in zip(names, leaves, strict=True)]
    with control_dependencies(saves):
        outputs[-1] = map_structure(_identity, outputs[-1])
        return outputs, cast("State", map_structure(_identity, state))


def _identity(x: object) -> Tensor:
    return ops.Identity(cast("Tensor", x))


LoopFunction: TypeAlias = (
    "Callable[[Tensor, object, State | None, object], tuple[object, object, State, object, object]]"
)
"""(time, output, state, loop state) -> what is finished, next input, next state, what is emitted,
next loop state; output and states are None before the first step."""


def raw_rnn(
    cell: RNNCell,
    loop_fn: LoopFunction,
    parallel_iterations: int | None = None,
    swap_memory: bool = False,
    scope: str | VariableScope | None = None,
) -> tuple[object, State, object]:
    """A loop of a cell whose inputs, states and outputs a function decides, step by step.

    Args:
        cell: An RNNCell.
        loop_fn: A `LoopFunction`. What it emits before the first step says what is emitted, in
            structure, type and size of a row; None for the outputs of the cell. A row that is
            finished emits zeros and keeps its state.
        parallel_iterations, swap_memory: Taken for TensorFlow's sake.
        scope: The variable scope, "rnn" by default.

    Returns:
        TensorArrays of what was emitted; the last state; the last loop state.

    Raises TypeError when `cell` is no cell, or `loop_fn` no function.
    """
    require_cell("cell", cell)
    if not callable(loop_fn):
        raise TypeError(f"Argument `loop_fn` must be a callable. Received: {loop_fn}.")
    with variable_scope(scope or "rnn"):
        time = convert_to_tensor(np.int32(0))
        finished, inputs, state, emitted, loop_state = loop_fn(time, None, None, None)
        state = cast("State", map_structure(_tensor, state))
        inputs = map_structure(_state_leaf, inputs)
        zeros = _emitted_zeros(cell, emitted, cast("Tensor", flatten(inputs)[0]), state)
        has_loop_state = loop_state is not None
        written = [TensorArray(x.dtype, 0, dynamic_size=True, element_shape=x.sizes) for x in zeros]
        structure = cell.output_size if emitted is None else emitted

        def body(
            time: Tensor,
            finished: Tensor,
            inputs: object,
            arrays: list[TensorArray],
            state: State,
            loop_state: object,
        ) -> tuple[object, ...]:
            output, after = cell(cast("TensorLike", inputs), state)
            ended, inputs, after, emitted, more = loop_fn(
                time + 1, output, after, loop_state if has_loop_state else None
            )
            runs = ops.LogicalNot(finished)
            leaves = _chosen(runs, list(flatten(emitted)), zeros)
            pairs = zip(arrays, cast("list[Tensor]", leaves), strict=True)
            return (
                time + 1,
                ops.LogicalOr(finished, _tensor(ended)),
                inputs,
                [array.write(time, x) for array, x in pairs],
                _chosen(runs, after, state),
                loop_state if more is None else more,
            )

        start = loop_state if has_loop_state else np.int32(0)
        start = map_structure(_state_leaf, start)
        variables = (time, _tensor(finished), inputs, written, state, start)
        results = while_loop(_some_run, body, variables)
        *_, arrays, last, loop_state = cast("tuple[object, ...]", results)
        emitted = pack(structure, flatten(arrays))
        return emitted, cast("State", last), loop_state if has_loop_state else None


def _some_run(time: Tensor, finished: Tensor, *variables: object) -> Tensor:
    """The condition of a loop whose second variable says which rows are finished."""
    return ops.LogicalNot(reduce_all(finished))


def _emitted_zeros(cell: RNNCell, emitted: object, first: Tensor, state: State) -> list[Tensor]:
    """Zeros for a batch of what each step emits: as a row of `emitted`, or as the cell's output."""
    batch = _batch_size(first, 0)
    if emitted is None:
        dtype = np.dtype(cast("Tensor", flatten(state)[0]).dtype)
        rows = [(shape_of(cast("Size", size)), dtype) for size in flatten(cell.output_size)]
    else:
        tensors = [_tensor(x) for x in flatten(emitted)]
        rows = [(creation.shape(x) if x.sizes is None or None in x.sizes else list(x.sizes),
                 np.dtype(x.dtype)) for x in tensors]  # fmt: skip
    return [_zero_rows(batch, sizes, dtype) for sizes, dtype in rows]


def _zero_rows(batch: Tensor | int, sizes: object, dtype: np.dtype) -> Tensor:
    if isinstance(batch, int) and isinstance(sizes, list):
        return creation.zeros([batch, *cast("list[int]", sizes)], dtype)
    tail = _tensor(np.asarray(sizes, np.int32) if isinstance(sizes, list) else sizes)
    shape = ops.ConcatV2([array.reshape(_tensor(batch), [1]), tail], np.int32(0))
    zeros = creation.zeros(shape, dtype)
    if isinstance(sizes, list):
        zeros.set_shape((None, *cast("list[int]", sizes)))
    return zeros
