"""What recurrent layers do at one step: the cells of SimpleRNN, LSTM, GRU and ConvLSTM, stacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .activation import activation_of
from .conv import CHANNELS, layout
from .core import bias_of
from .files.architecture import Layer, read_layer
from .files.weights import numbered
from .functions.products import matmul
from .registry import ANY, Call, layer

if TYPE_CHECKING:
    from ...graph.core.graph import Tensor

    Step = tuple[Tensor, list[Tensor]]


@dataclass(frozen=True)
class Cell:
    """One kind of cell.

    Attributes:
        state_shapes: `(call, x)` gives the shape of each state without the batch, for an `x` that
            is one step.
        project: `(call, x)` is what of the step's work can be done for all steps at once.
        step: `(call, projected, states)` gives the output and the new states.
    """

    state_shapes: Callable[[Call, Tensor], list[tuple[int, ...]]]
    project: Callable[[Call, Tensor], Tensor]
    step: Callable[[Call, Tensor, Sequence[Tensor]], Step]


def units(call: Call) -> int:
    """How many units a cell has."""
    return call.integers("units", 1)[0]


def activate(call: Call, name: str, x: Tensor, default: str) -> Tensor:
    """`x` after one of the activations in a cell's settings."""
    setting = call.setting(name, default)
    activation = activation_of(setting)
    call.check(activation is not None, name, "an activation that Keras has")
    return activation(call, x) if activation else x


def split(call: Call, x: Tensor, *widths: int) -> list[Tensor]:
    """Parts of the last axis."""
    if len(set(widths)) == 1:
        axis = call.constant(len(call.shape(x)) - 1)
        return call.ops("Split", axis, x, num_split=len(widths))
    return call.ops(
        "SplitV",
        x,
        call.constant(widths),
        call.constant(len(call.shape(x)) - 1),
        num_split=len(widths),
    )


def projected(call: Call, x: Tensor, width: int, bias: Tensor | None) -> Tensor:
    """x @ kernel + bias, of a step or of all."""
    n = call.known(call.shape(x)[-1], "the last dimension")
    y = matmul(call, x, call.weight("kernel", [n, width]))
    return y if bias is None else call.op("BiasAdd", y, bias)


def bias(call: Call, *shape: int) -> Tensor | None:
    """The bias of a cell, if it has one."""
    return call.weight("bias", shape) if call.flag("use_bias", True) else None


def recurrent(call: Call, h: Tensor, width: int, first: int = 0, last: int | None = None) -> Tensor:
    """h @ recurrent_kernel, perhaps only some of its columns."""
    n = call.known(call.shape(h)[-1], "the number of units")
    if first == 0 and last in (None, width):
        return call.op("MatMul", h, call.weight("recurrent_kernel", [n, width]))
    columns = call.weight_value("recurrent_kernel", [n, width])[:, first:last]
    return call.op("MatMul", h, call.constant(columns, h))


def simple_project(call: Call, x: Tensor) -> Tensor:
    """x @ kernel + bias."""
    n = units(call)
    return projected(call, x, n, bias(call, n))


def simple_step(call: Call, x: Tensor, states: Sequence[Tensor]) -> Step:
    """activation(x @ kernel + bias + h @ recurrent_kernel)."""
    y = call.op("AddV2", recurrent(call, states[0], units(call)), x)
    h = activate(call, "activation", y, "tanh")
    return h, [h]


def lstm_project(call: Call, x: Tensor) -> Tensor:
    """x @ kernel + bias, for the gates i, f, c, o."""
    n = 4 * units(call)
    return projected(call, x, n, bias(call, n))


def lstm_step(call: Call, x: Tensor, states: Sequence[Tensor]) -> Step:
    """c = f * c + i * activation(...), h = o * activation(c)."""
    h, c = states
    n = units(call)
    gates = split(call, call.op("AddV2", recurrent(call, h, 4 * n), x), n, n, n, n)
    return lstm_state(call, gates, c)


def lstm_state(call: Call, gates: Sequence[Tensor], c: Tensor) -> Step:
    """The state after the gates i, f, c, o."""
    i, f, o = (activate(call, "recurrent_activation", gates[k], "sigmoid") for k in (0, 1, 3))
    new = call.op("Mul", i, activate(call, "activation", gates[2], "tanh"))
    c = call.op("AddV2", call.op("Mul", f, c), new)
    h = call.op("Mul", o, activate(call, "activation", c, "tanh"))
    return h, [h, c]


def gru_project(call: Call, x: Tensor) -> Tensor:
    """x @ kernel + bias, for the gates z, r, h."""
    n = 3 * units(call)
    if not call.flag("use_bias", True) or not call.flag("reset_after"):
        return projected(call, x, n, bias(call, n))
    return projected(call, x, n, call.constant(call.weight_value("bias", [2, n])[0], x))


def gru_step(call: Call, x: Tensor, states: Sequence[Tensor]) -> Step:
    """h = z * h + (1 - z) * activation(...), where the part of r * h comes before or after."""
    (h,) = states
    n = units(call)
    x_gates, x_new = split(call, x, 2 * n, n)
    h_new = h
    if call.flag("reset_after"):
        inner = recurrent(call, h, 3 * n)
        if call.flag("use_bias", True):
            offsets = call.weight_value("bias", [2, 3 * n])[1]
            inner = call.op("BiasAdd", inner, call.constant(offsets, h))
        h_gates, h_new = split(call, inner, 2 * n, n)
    else:
        h_gates = recurrent(call, h, 3 * n, 0, 2 * n)
    gates = call.op("AddV2", h_gates, x_gates)
    z, r = split(call, activate(call, "recurrent_activation", gates, "sigmoid"), n, n)
    if call.flag("reset_after"):
        inner = call.op("Mul", r, h_new)
    else:
        inner = recurrent(call, call.op("Mul", r, h), 3 * n, 2 * n, 3 * n)
    new = activate(call, "activation", call.op("AddV2", inner, x_new), "tanh")
    y = call.op("AddV2", new, call.op("Mul", z, call.op("Sub", h, new)))
    return y, [y]


def conv_attributes(call: Call, rank: int, is_recurrent: bool) -> dict[str, Any]:
    """Strides, dilations and padding of one of the two convolutions of a ConvLSTM."""
    n = rank - 2
    data_format, spatial, _ = layout(call, rank)
    attrs: dict[str, Any] = {"data_format": data_format, "strides": [1] * rank}
    attrs |= {"dilations": [1] * rank, "padding": "SAME"}
    if not is_recurrent:
        attrs["strides"][spatial] = call.integers("strides", n)
        attrs["dilations"][spatial] = call.integers("dilation_rate", n)
        attrs["padding"] = call.text("padding", "valid", "same").upper()
    return attrs


def convolved(call: Call, x: Tensor, name: str, filters: int) -> Tensor:
    """The convolution of an input or of a state for all gates; sequences as images of height 1."""
    rank = len(call.shape(x))
    n = rank - 2
    channel = layout(call, rank)[2]
    channels = call.known(call.shape(x)[channel], "the number of channels")
    kernel = call.weight(name, [*call.integers("kernel_size", n), channels, filters])
    attrs = conv_attributes(call, rank, name != "kernel")
    if n != 1:
        return call.op(f"Conv{n}D", x, kernel, **attrs)
    axis = 1 if channel == 2 else 2
    attrs["strides"].insert(axis, 1)
    attrs["dilations"].insert(axis, 1)
    attrs["data_format"] = CHANNELS[4][CHANNELS[3].index(attrs["data_format"])]
    x = call.op("ExpandDims", x, call.constant(axis))
    y = call.op("Conv2D", x, call.op("ExpandDims", kernel, call.constant(0)), **attrs)
    return call.op("Squeeze", y, squeeze_dims=[axis])


def conv_shapes(call: Call, x: Tensor) -> list[tuple[int, ...]]:
    """The shape of both states, which is that of the convolved input."""
    (filters,) = call.integers("filters", 1)
    y = convolved(call, x, "kernel", 4 * filters)
    shape = list(call.shape(y)[1:])
    shape[layout(call, len(shape) + 1)[2] - 1] = filters
    known = tuple(call.known(n, "each dimension after the first two") for n in shape)
    return [known, known]


def conv_step(call: Call, x: Tensor, states: Sequence[Tensor]) -> Step:
    """An LSTM whose products are convolutions."""
    h, c = states
    (filters,) = call.integers("filters", 1)
    y = convolved(call, x, "kernel", 4 * filters)
    data_format, _, channel = layout(call, len(call.shape(x)))
    if call.flag("use_bias", True):
        data_format = "NCHW" if channel == 1 else "NHWC"
        y = call.op("BiasAdd", y, call.weight("bias", [4 * filters]), data_format=data_format)
    y = call.op("AddV2", y, convolved(call, h, "recurrent_kernel", 4 * filters))
    gates = call.ops("Split", call.constant(channel), y, num_split=4)
    return lstm_state(call, gates, c)


def stacked_project(call: Call, x: Tensor) -> Tensor:
    """The first cell's."""
    first = call.part(next(iter(call.layer.parts)))
    return cell_of(first).project(first, x)


def stacked_shapes(call: Call, x: Tensor) -> list[tuple[int, ...]]:
    """The states of all cells."""
    call.check(call.layer.parts, "cells", "a list of cells")
    shapes: list[tuple[int, ...]] = []
    for name in call.layer.parts:
        shapes += cell_of(call.part(name)).state_shapes(call.part(name), x)
    return shapes


def stacked_step(call: Call, x: Tensor, states: Sequence[Tensor]) -> Step:
    """Each cell reads what the one before gives."""
    call.require(not call.flag("reverse_state_order"), "reverse_state_order is not supported")
    states, new_states, y = list(states), [], x
    for i, name in enumerate(call.layer.parts):
        part = call.part(name)
        cell = cell_of(part)
        n = len(cell.state_shapes(part, x))
        y, new = cell.step(part, y if i == 0 else cell.project(part, y), states[:n])
        new_states, states = new_states + new, states[n:]
    return y, new_states


def of_units(n: int) -> Callable[[Call, Tensor], list[tuple[int, ...]]]:
    """The shapes of `n` states with as many values as there are units."""
    return lambda call, x: [(units(call),)] * n


CONV = Cell(conv_shapes, lambda call, x: x, conv_step)
CELLS = {
    "SimpleRNNCell": Cell(of_units(1), simple_project, simple_step),
    "LSTMCell": Cell(of_units(2), lstm_project, lstm_step),
    "GRUCell": Cell(of_units(1), gru_project, gru_step),
    "StackedRNNCells": Cell(stacked_shapes, stacked_project, stacked_step),
    **{f"ConvLSTM{n or ''}{'D' if n else ''}Cell": CONV for n in (0, 1, 2, 3)},
}


def cell_of(call: Call) -> Cell:
    """The kind of cell that a layer is."""
    cell = CELLS.get(call.layer.kind)
    call.require(cell, f"must be one of {', '.join(CELLS)}")
    assert cell is not None
    return cell


def cell_weights(layer: Layer) -> tuple[str, ...]:
    """Weights of a cell."""
    return ("kernel", "recurrent_kernel", *bias_of(layer))


def stacked_parts(layer: Layer) -> dict[str, Layer]:
    """The cells of a stack, where Keras 3 stores them: by class and number."""
    cells = layer.config.get("cells")
    cells = [read_layer(spec) for spec in cells] if isinstance(cells, list) else []
    return numbered("cells", cells)


def cell_layer(call: Call, inputs: Any, states: Any = None, mask: Any = None) -> list[Tensor]:
    """A cell as a layer: the output and the states of one step."""
    previous = states if isinstance(states, list) else [states]
    call.require(states is not None, "a cell must be called with its states")
    cell = cell_of(call)
    y, new_states = cell.step(call, cell.project(call, inputs), previous)
    return [y, *new_states]


for _kind in CELLS:
    if _kind == "StackedRNNCells":
        layer(_kind, parts=stacked_parts, takes=ANY)(cell_layer)
    else:
        layer(_kind, weights=cell_weights, takes=ANY)(cell_layer)
