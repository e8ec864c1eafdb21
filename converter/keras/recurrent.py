"""Recurrent layers: a cell at each step, with masks, states and both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .build import CarriedState
from .cells import cell_of
from .files.architecture import Layer, read_layer
from .loops import reserved, stacked, while_loop
from .registry import ANY, Call, layer

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor

MERGES = {"sum": "AddV2", "mul": "Mul", "ave": "AddV2", "concat": "ConcatV2"}
OF_SEQUENCES = ("ConvLSTM1D", "ConvLSTM2D", "ConvLSTM3D", "GRU", "LSTM", "RNN", "SimpleRNN")


def step_of(call: Call, x: Tensor, index: Tensor) -> Tensor:
    """One step of sequences."""
    return call.op("GatherV2", x, index, call.constant(1))


def zero_state(call: Call, x: Tensor, shape: tuple[int, ...]) -> Tensor:
    """Zeros for each sequence of `x`."""
    batch = call.shape(x)[0]
    if batch is not None:
        return call.constant(np.zeros((batch, *shape)), x)
    y = call.op("Fill", call.sizes([call.size(x, 0), *shape]), call.constant(0, x))
    y.set_shape((None, *shape))
    return y


def carried_states(call: Call, x: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[CarriedState]:
    """What a stateful layer keeps from call to call, zeros before the first."""
    states = call.writer.states
    call.require(
        states is not None,
        "stateful=True within a loop over steps or blocks is not supported; make its states inputs "
        "and outputs (initial_state, return_state)",
    )
    assert states is not None
    batch = call.shape(x)[0]
    call.require(
        batch is not None,
        "stateful=True needs a batch that is known; give the model's inputs a batch_shape, or "
        "input_shapes to the converter",
    )
    key = id(call.layer)
    if key not in states:
        states[key] = []
        for shape in shapes:
            name = call.graph.unique_name(f"{call.scope}/state")
            attrs = {"dtype": x.dtype, "shape": (batch, *shape)}
            first = call.graph.add("Placeholder", name, (), attrs).outputs[0]
            states[key].append(CarriedState(first, first))
    return states[key]


def first_states(call: Call, x: Tensor, passed: Sequence[Tensor]) -> list[Tensor]:
    """What a stateful layer begins with: its own states, or those that were passed.

    In Keras 2 what was passed counts only as long as all of the layer's own states are zeros.
    """
    initial = [state.now for state in carried_states(call, x, state_shapes(call, x))]
    if not passed or call.is_keras3:
        return list(passed) or initial
    flat_states = [call.op("Reshape", state, call.constant([-1])) for state in initial]
    together = call.op("ConcatV2", *flat_states, call.constant(0))
    largest = call.op("Max", call.op("Abs", together), call.constant([0]))
    is_set = call.op("Greater", largest, call.constant(0, largest))
    pairs = zip(initial, initial_states(call, x, passed), strict=True)
    return [call.op("SelectV2", is_set, mine, other) for mine, other in pairs]


def state_shapes(call: Call, x: Tensor) -> list[tuple[int, ...]]:
    """The shapes of a cell's states, without the batch."""
    cell = call.part("cell")
    return list(cell_of(cell).state_shapes(cell, step_of(cell, x, call.constant(0))))


def initial_states(call: Call, x: Tensor, passed: Sequence[Tensor]) -> list[Tensor]:
    """The states that were passed, or zeros."""
    shapes = state_shapes(call, x)
    if not passed:
        return [zero_state(call, x, shape) for shape in shapes]
    call.require(len(passed) == len(shapes), f"has {len(shapes)} states, got {len(passed)}")
    batch = call.shape(x)[0]
    for state, shape in zip(passed, shapes, strict=True):
        call.shape(state, len(shape) + 1)
        try:
            state.set_shape((batch, *shape))
        except ValueError as error:
            call.require(False, f"a state must have shape {shape}: {error}")
    return list(passed)


class Pass:
    """One pass of a layer over sequences.

    Attributes:
        outputs: of all steps, in the order of the sequence; None where the layer gives the last.
        last: the output of the last step.
        states: after the last step.
    """

    def __init__(
        self, call: Call, x: Tensor, mask: Tensor | None, states: Sequence[Tensor]
    ) -> None:
        self._call, self._cell = call, call.part("cell")
        self._is_backwards = call.flag("go_backwards")
        self._is_sequence = call.flag("return_sequences")
        self._is_zero_where_masked = call.flag("zero_output_for_mask")
        shape, first = call.shape(x), call.part("cell")
        self._n_steps = shape[1]
        initial = initial_states(call, x, states)
        self._n_states, self._has_mask = len(initial), mask is not None
        # a masked step repeats the output before it, which is the first state of plain cells
        self._has_output = mask is not None and (
            bool(states) or self._is_zero_where_masked or self._cell.layer.kind == "StackedRNNCells"
        )
        self._item = self._output_shape(initial)
        steps = call.size(x, 1)
        start = call.constant(0)
        if self._is_backwards:
            start = call.op("Sub", steps, call.constant(1))
        values = [start, *initial]
        values += [cell_of(first).project(first, x)]
        values += [] if self._n_steps is not None else [steps]
        values += [self._expanded(mask)] if mask is not None else []
        values += [self._zeros(x)] if self._has_output else []
        values += (
            [reserved(call, self._item, np.dtype(np.float32), steps)] if self._is_sequence else []
        )
        results = while_loop(call, values, self._condition, self._body)
        self.states = results[1 : 1 + self._n_states]
        self.last = self.states[self._output_state]
        if self._has_output:
            self.last = results[-2 if self._is_sequence else -1]
        self.outputs = None
        if self._is_sequence:
            self.outputs = stacked(
                call, results[-1], self._item, np.dtype(np.float32), self._n_steps
            )

    @property
    def _output_state(self) -> int:
        """Which state is the output: the first one of the last cell."""
        if self._cell.layer.kind != "StackedRNNCells":
            return 0
        last = self._cell.part(list(self._cell.layer.parts)[-1])
        return self._n_states - (2 if "LSTM" in last.layer.kind else 1)

    def _output_shape(self, states: Sequence[Tensor]) -> tuple[int | None, ...]:
        return self._call.shape(states[self._output_state])

    def _zeros(self, x: Tensor) -> Tensor:
        return zero_state(self._call, x, tuple(n or 0 for n in self._item[1:]))

    def _expanded(self, mask: Tensor) -> Tensor:
        """A mask with an axis for each of a step's."""
        mask = self._call.cast(mask, bool)
        for _ in self._item[1:]:
            mask = self._call.op("ExpandDims", mask, self._call.constant(-1))
        return mask

    def _condition(self, call: Call, index: Tensor, *others: Tensor) -> list[Tensor]:
        if self._is_backwards:
            return [call.op("GreaterEqual", index, call.constant(0))]
        n = others[self._n_states + 1] if self._n_steps is None else call.constant(self._n_steps)
        return [call.op("Less", index, n)]

    def _body(self, call: Call, index: Tensor, *others: Tensor) -> list[Tensor]:
        """The next step: others are states, input, number of steps, mask, output and list."""
        states, (x, *extra) = others[: self._n_states], others[self._n_states :]
        cell = call.part("cell")
        y, new_states = cell_of(cell).step(cell, step_of(call, x, index), states)
        unchanged = [x] + ([extra.pop(0)] if self._n_steps is None else [])
        if self._has_mask:
            unchanged.append(extra[0])
            keeps = step_of(call, extra.pop(0), index)
            old_y = states[self._output_state]
            if self._has_output:
                old_y = extra.pop(0)
            is_state = y is new_states[self._output_state] and not self._has_output
            pairs = zip(new_states, states, strict=True)
            new_states = [call.op("SelectV2", keeps, new, old) for new, old in pairs]
            if self._is_zero_where_masked:
                old_y = call.op("ZerosLike", old_y)
            y = new_states[self._output_state] if is_state else call.op("SelectV2", keeps, y, old_y)
        results = [
            call.op("AddV2", index, call.constant(-1 if self._is_backwards else 1)),
            *new_states,
            *unchanged,
        ]
        results += [y] if self._has_output else []
        if self._is_sequence:
            item = call.op("TensorListSetItem", extra[-1], index, y, element_dtype=y.dtype)
            results.append(item)
        return results


def reversed_steps(call: Call, x: Tensor) -> Tensor:
    """The steps of sequences from the last to the first."""
    return call.op("ReverseV2", x, call.constant([1]))


def with_time_second(call: Call, x: Tensor) -> Tensor:
    """Swaps batch and steps where the layer's settings say that steps come first."""
    if not call.flag("time_major"):
        return x
    return call.op("Transpose", x, call.constant([1, 0, *range(2, len(call.shape(x)))]))


def inputs_of(call: Call, sequence: Any, initial_state: Any) -> tuple[Tensor, list[Tensor]]:
    """Sequences and the states that were passed with them: Keras 2 has them in one list."""
    call.require(sequence != [], "must be called with sequences")
    x, *states = sequence if isinstance(sequence, list) else [sequence]
    if initial_state is not None:
        states += initial_state if isinstance(initial_state, list) else [initial_state]
    return x, flat(states)


def flat(states: Sequence[Any]) -> list[Tensor]:
    """The states of nested lists."""
    return [s for item in states for s in (flat(item) if isinstance(item, list) else [item])]


def one_mask(mask: Any) -> Any:
    """The mask of the sequences, where states have masks, too."""
    return mask[0] if isinstance(mask, list) else mask


def ran(call: Call, sequence: Any, initial_state: Any, mask: Any) -> Pass:
    """The pass of a layer called in this way."""
    x, states = inputs_of(call, sequence, initial_state)
    call.shape(x, 3, 4, 5, 6)
    mask = one_mask(mask)
    x = with_time_second(call, x)
    mask = None if mask is None else with_time_second(call, mask)
    if not call.flag("stateful"):
        return Pass(call, x, mask, states)
    initial = carried_states(call, x, state_shapes(call, x))
    result = Pass(call, x, mask, first_states(call, x, states))
    for state, new in zip(initial, result.states, strict=True):
        state.now = new
    return result


def recurrent_layer(
    call: Call, sequence: Any, mask: Any = None, initial_state: Any = None, constants: Any = None
) -> list[Tensor]:
    """The outputs of all steps or of the last, and the states where they are wanted."""
    call.require(constants is None, "is called with constants, which is not supported")
    result = ran(call, sequence, initial_state, mask)
    y = result.last
    if result.outputs is not None:
        backwards = call.flag("go_backwards")
        y = reversed_steps(call, result.outputs) if backwards else result.outputs
        y = with_time_second(call, y)
    return [y, *(result.states if call.flag("return_state") else [])]


def cell_part(layer: Layer) -> dict[str, Layer]:
    """The cell of a layer: in its settings for RNN, of the same settings for the others."""
    if layer.kind == "RNN":
        cell = layer.config.get("cell")
        if isinstance(cell, dict) and "cells" in cell and "class_name" not in cell:
            cell = {"class_name": "StackedRNNCells", "config": cell}
        return {"cell": read_layer(cell)}
    return {"cell": Layer(f"{layer.kind}Cell", f"{layer.kind.lower()}_cell", layer.config)}


for _kind in OF_SEQUENCES:
    layer(_kind, parts=cell_part, takes=ANY)(recurrent_layer)


def both_directions(layer: Layer) -> dict[str, Layer]:
    """The layers of a Bidirectional."""
    forward = read_layer(layer.config.get("layer"))
    forward.name = "forward_" + forward.name.removeprefix("forward_")
    spec = layer.config.get("backward_layer")
    if spec is not None:
        return {"forward_layer": forward, "backward_layer": read_layer(spec)}
    config = {**forward.config, "go_backwards": not forward.config.get("go_backwards")}
    name = "backward_" + forward.name.removeprefix("forward_")
    return {"forward_layer": forward, "backward_layer": replace(forward, name=name, config=config)}


@layer("Bidirectional", parts=both_directions, takes=ANY)
def bidirectional(
    call: Call, sequences: Any, initial_state: Any = None, mask: Any = None, constants: Any = None
) -> list[Tensor]:
    """Both directions side by side, or their sum, product or mean."""
    call.require(constants is None, "is called with constants, which is not supported")
    x, states = inputs_of(call, sequences, initial_state)
    half = len(states) // 2
    halves = (states[:half], states[half:])
    outputs, all_states = [], []
    for name, initial in zip(("forward_layer", "backward_layer"), halves, strict=True):
        part = call.part(name)
        part.require(part.layer.kind in OF_SEQUENCES, "must be a recurrent layer")
        part.layer.config["zero_output_for_mask"] = part.flag("return_sequences")
        result = ran(part, x, initial, mask)
        outputs.append(result.last if result.outputs is None else result.outputs)
        all_states += result.states if part.flag("return_state") else []
    is_forward_backwards = call.part("forward_layer").flag("go_backwards")
    if call.part("forward_layer").flag("return_sequences") and is_forward_backwards:
        outputs = [reversed_steps(call, y) for y in outputs]
    mode = call.setting("merge_mode", "concat")
    if mode is None:
        return [*outputs, *all_states]
    merge = MERGES[call.text("merge_mode", "concat", "sum", "mul", "ave")]
    attrs = [call.constant(-1)] if mode == "concat" else []
    y = call.op(merge, *outputs, *attrs)
    if mode == "ave":
        y = call.op("Mul", y, call.constant(0.5, y))
    return [y, *all_states]
