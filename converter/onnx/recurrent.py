"""RNN, GRU and LSTM: what does not depend on the state at once for all steps, then step by step.

Few steps are written one after another, many (or an unknown number) as a WHILE, which a pass makes
an LSTM_SEQUENCE or RNN_SEQUENCE of where it can (converter/passes/recurrent.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import Tensor
from ..lowering import formulas
from ..lowering.moves import as_int32, dimension, int32s, like, transposed
from .control import run_loop
from .registry import lower

if TYPE_CHECKING:
    from ..ir.builder import Builder

MAX_UNROLLED = 4
"""Steps that are written one after another."""
DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""Whether each direction goes backwards."""
Activation = Callable[["Builder", Tensor], Tensor]

ACTIVATIONS: dict[str, Callable[..., Tensor]] = {
    "affine": lambda b, x, alpha=1.0, beta=0.0: b.ADD(
        b.MUL(x, like(x, alpha, b)), like(x, beta, b)
    ),
    "elu": lambda b, x, alpha=1.0, beta=0.0: formulas.elu(b, x, alpha),
    "hardsigmoid": lambda b, x, alpha=0.2, beta=0.5: formulas.hard_sigmoid(b, x, alpha, beta),
    "leakyrelu": lambda b, x, alpha=0.01, beta=0.0: b.LEAKY_RELU(x, alpha=alpha),
    "relu": lambda b, x, alpha=0.0, beta=0.0: b.RELU(x),
    "scaledtanh": lambda b, x, alpha=1.0, beta=1.0: b.MUL(
        b.TANH(b.MUL(x, like(x, beta, b))), like(x, alpha, b)
    ),
    "sigmoid": lambda b, x, alpha=0.0, beta=0.0: b.LOGISTIC(x),
    "softplus": lambda b, x, alpha=0.0, beta=0.0: formulas.softplus(b, x),
    "softsign": lambda b, x, alpha=0.0, beta=0.0: formulas.softsign(b, x),
    "tanh": lambda b, x, alpha=0.0, beta=0.0: b.TANH(x),
    "thresholdedrelu": lambda b, x, alpha=1.0, beta=0.0: b.MUL(
        x, b.CAST(b.GREATER(x, like(x, alpha, b)), dtype=x.dtype)
    ),
}


@dataclass(frozen=True)
class Cell:
    """What the kinds of layers differ in.

    Attributes:
        n_gates: how many gates there are.
        activations: the default ones.
        n_states: how many of its states are results of the node.
        step: `(b, layer, projected x, states, tensors) -> new states`, the output first.
        prepare: `(node, b, d, x, weights, tensors) -> weights of x, further first states`; adds
            what the steps read to the tensors. None where there is nothing else.
    """

    n_gates: int
    activations: tuple[str, ...]
    n_states: int
    step: Callable[..., list[Tensor]]
    prepare: Callable[..., tuple[Tensor, list[Tensor]]] | None = None


@dataclass
class Layer:
    """One direction of a node.

    Attributes:
        activations: its functions.
        hidden_size: the size of its state.
        clip: the largest number that enters an activation; None for no limit.
        options: linear_before_reset, input_forget.
        backwards: whether it starts at the end.
    """

    activations: list[Activation]
    hidden_size: int
    clip: float | None
    options: dict[str, bool]
    backwards: bool

    def clipped(self, b: Builder, x: Tensor) -> Tensor:
        """What enters an activation."""
        if self.clip is None:
            return x
        return formulas.clip(b, x, like(x, -self.clip, b), like(x, self.clip, b))


def dense(b, x, weights, bias=None):
    """The product of the last axis of `x` with weights, [results, features]."""
    out = b.FULLY_CONNECTED(x, weights, None, keep_num_dims=x.rank != 2)
    return out if bias is None else b.ADD(out, bias)


def _gates(b, x, n):
    return b.SPLIT(np.int32(x.rank - 1), x, num_splits=n) if n > 1 else [x]


def rnn_step(b, layer, x, states, tensors):
    """f(x W + h R + bias)."""
    (f,) = layer.activations
    return [f(b, layer.clipped(b, b.ADD(x, dense(b, states[0], tensors["R"]))))]


def gru_step(b, layer, x, states, tensors):
    """(1 - z) * candidate + z * h; the reset gate comes before or after the product with R."""
    f, g = layer.activations
    (h,), size = states, layer.hidden_size
    recurrent = b.SPLIT_V(tensors["R"], int32s([2 * size, size]), np.int32(0), num_splits=2)
    x_gates, x_hidden = b.SPLIT_V(x, int32s([2 * size, size]), np.int32(x.rank - 1), num_splits=2)
    gates = f(b, layer.clipped(b, b.ADD(x_gates, dense(b, h, recurrent[0]))))
    update, reset = _gates(b, gates, 2)
    hidden_bias = tensors.get("hidden bias")
    if layer.options["linear_before_reset"]:
        product = b.MUL(reset, dense(b, h, recurrent[1], hidden_bias))
    else:
        product = dense(b, b.MUL(reset, h), recurrent[1], hidden_bias)
    candidate = g(b, layer.clipped(b, b.ADD(x_hidden, product)))
    return [b.ADD(candidate, b.MUL(update, b.SUB(h, candidate)))]


def lstm_step(b, layer, x, states, tensors):
    """c' = forget * c + input * candidate, h' = output * activation(c')."""
    f, g, h_function = layer.activations
    h, c = states
    gates = b.ADD(x, dense(b, h, tensors["R"]))
    parts = dict(zip("iofc", _gates(b, gates, 4), strict=True))
    peepholes = dict(zip("iof", _gates(b, tensors["P"], 3), strict=True)) if "P" in tensors else {}

    def gate(name, cell):
        value = parts[name]
        if name in peepholes:
            value = b.ADD(value, b.MUL(peepholes[name], cell))
        return f(b, layer.clipped(b, value))

    enter = gate("i", c)
    forget = b.SUB(like(enter, 1, b), enter) if layer.options["input_forget"] else gate("f", c)
    candidate = g(b, layer.clipped(b, parts["c"]))
    new_c = b.ADD(b.MUL(forget, c), b.MUL(enter, candidate))
    return [b.MUL(gate("o", new_c), h_function(b, new_c)), new_c]


CELLS = {
    "RNN": Cell(1, ("Tanh",), 1, rnn_step),
    "GRU": Cell(3, ("Sigmoid", "Tanh"), 1, gru_step),
    "LSTM": Cell(4, ("Sigmoid", "Tanh", "Tanh"), 2, lstm_step),
}


@lower(*CELLS)
def recurrent(node, b):
    """All outputs, and the last states, of each direction."""
    return of_cell(node, b, CELLS[node.type])


def of_cell(node, b, cell: Cell):
    """All outputs, and the last states, of each direction of a layer of such cells."""
    x, by_batch = node.inputs[0], bool(node.attr("layout", 0))
    direction = node.attr("direction", "forward")
    node.require(
        direction in DIRECTIONS, f"direction must be one of {[*DIRECTIONS]}, got '{direction}'"
    )
    x = transposed(x, (1, 0, 2), b) if by_batch else x
    layers = _layers(node, cell, DIRECTIONS[direction])
    rows, lasts = [], []
    for d, layer in enumerate(layers):
        out, states = _run(node, b, cell, layer, d, x, by_batch)
        rows.append(out)
        lasts.append(states)
    steps = b.PACK(*rows, axis=2 if by_batch else 1, values_count=len(rows))
    axis = 1 if by_batch else 0
    if by_batch:
        rows = [transposed(row, (1, 0, 2), b) for row in rows]
        steps = b.PACK(*rows, axis=2, values_count=len(rows))
    finals = [
        b.PACK(*(states[i] for states in lasts), axis=axis, values_count=len(rows))
        for i in range(cell.n_states)
    ]
    return steps, *finals


def _layers(node, cell, directions):
    """What each direction computes with."""
    names = node.attr("activations", None)
    names = [n.decode() if isinstance(n, bytes) else n for n in names or []]
    names = names or [*cell.activations] * len(directions)
    alphas, betas = (list(node.attr(f"activation_{n}", [])) for n in ("alpha", "beta"))
    functions = []
    for name in names:
        key = name.lower()
        node.require(key in ACTIVATIONS, f"activation '{name}' must be one of {[*ACTIVATIONS]}")
        options = {}
        if key in WITH_ALPHA and alphas:
            options["alpha"] = alphas.pop(0)
        if key in WITH_BETA and betas:
            options["beta"] = betas.pop(0)
        functions.append(lambda b, x, f=ACTIVATIONS[key], o=options: f(b, x, **o))
    n = len(cell.activations)
    flags = {name: bool(node.attr(name, 0)) for name in ("linear_before_reset", "input_forget")}
    size = node.attr("hidden_size", None) or node.shape(2)[-1]
    return [
        Layer(functions[d * n : (d + 1) * n], size, node.attr("clip", None), flags, backwards)
        for d, backwards in enumerate(directions)
    ]


WITH_ALPHA = {"affine", "elu", "hardsigmoid", "leakyrelu", "scaledtanh", "thresholdedrelu"}
WITH_BETA = {"affine", "hardsigmoid", "scaledtanh"}


def of_direction(b, x, d):
    """The part of a parameter that belongs to a direction."""
    if x.value is not None:
        return b.constant(np.ascontiguousarray(x.value[d]))
    return b.GATHER(x, np.int32(d))


def _run(node, b, cell, layer, d, x, by_batch):
    """(outputs of all steps, last states) of one direction."""
    weights, tensors = of_direction(b, node.inputs[1], d), {}
    tensors["R"] = of_direction(b, node.inputs[2], d)
    bias = None
    if node.input(3) is not None:
        bias = _bias(b, cell, layer, of_direction(b, node.inputs[3], d), tensors)
    if node.input(7) is not None:
        tensors["P"] = of_direction(b, node.inputs[7], d)
    lengths = node.input(4)
    lengths = None if lengths is None else as_int32(lengths, b)
    if layer.backwards:
        x = _reversed(b, x, lengths)
    states = [_initial(node, b, layer, i, d, x, by_batch) for i in range(cell.n_states)]
    if cell.prepare is not None:
        weights, more = cell.prepare(node, b, d, x, weights, tensors)
        states += more
    projected = dense(b, x, weights, bias)
    out, states = _stepped(node, b, cell, layer, projected, states, tensors, lengths)
    return (_reversed(b, out, lengths) if layer.backwards else out), states


def _bias(b, cell, layer, bias, tensors):
    """The sum of both biases; of a GRU's candidate the second one stays with the state."""
    first, second = b.SPLIT(np.int32(0), bias, num_splits=2)
    if cell.n_gates != 3:
        return b.ADD(first, second)
    size = layer.hidden_size
    gates, hidden = b.SPLIT_V(second, int32s([2 * size, size]), np.int32(0), num_splits=2)
    if not layer.options["linear_before_reset"]:
        return b.ADD(first, second)
    tensors["hidden bias"] = hidden
    return b.ADD(first, b.CONCATENATION(gates, b.MUL(hidden, like(hidden, 0, b)), axis=0))


def _reversed(b, x, lengths):
    if lengths is None:
        return b.REVERSE_V2(x, int32s([0]))
    return b.REVERSE_SEQUENCE(x, lengths, seq_dim=0, batch_dim=1)


def _initial(node, b, layer, i, d, x, by_batch):
    """The state before the first step: an input, or zeros."""
    start, size = node.input(5 + i), layer.hidden_size
    node.require(
        start is None or start.rank is None or start.dims[-1] in (None, size),
        f"input {5 + i}, a first state, must have rows of hidden_size {size}, got "
        f"{start and start.shape}",
    )
    if start is not None and not _is_zeros(start):
        return b.GATHER(start, np.int32(d), axis=1 if by_batch else 0)
    return no_state(b, x, size)


def no_state(b, x, size):
    """Zeros for each row of the batch of `x`, [length, batch, ...]."""
    batch = x.dims[1]
    if batch is not None:
        return b.constant(np.zeros((batch, size), x.dtype))
    sizes = b.PACK(dimension(x, 1, b), np.int32(size), axis=0, values_count=2)
    return b.FILL(sizes, like(x, 0, b))


def _is_zeros(x: Tensor) -> bool:
    """Whether a tensor is made of zeros alone, by moves and copies of constants."""
    while x.value is None:
        op = x.producer
        if op is None or op.kind not in ZERO_SOURCES:
            return False
        source = op.inputs[ZERO_SOURCES[op.kind]]
        if source is None:
            return False
        x = source
    return not np.any(x.value)


ZERO_SOURCES = {
    **dict.fromkeys(("BROADCAST_TO", "EXPAND_DIMS", "GATHER", "RESHAPE", "SLICE", "SQUEEZE"), 0),
    **dict.fromkeys(("STRIDED_SLICE", "TILE", "TRANSPOSE"), 0),
    "FILL": 1,
}
"""Operators whose results are zeros where this operand is."""


def _stepped(node, b, cell, layer, x, states, tensors, lengths):
    count = x.dims[0]
    has_operator = _has_operator(node, layer, tensors, lengths)
    if count is not None and count <= MAX_UNROLLED and not has_operator:
        rows = []
        for i in range(count):
            row, states = _cell_step(
                b, cell, layer, b.GATHER(x, np.int32(i)), states, tensors, lengths, np.int32(i)
            )
            rows.append(row)
        return b.PACK(*rows, axis=0, values_count=count), states
    return _looped(node, b, cell, layer, x, states, tensors, lengths)


def _has_operator(node, layer, tensors, lengths) -> bool:
    """Whether TFLite has an operator for the cell, which does not tell the last cell state."""
    return (
        node.type in ("LSTM", "RNN")
        and lengths is None
        and layer.clip is None
        and not layer.options["input_forget"]
        and not node.attr("activations", None)
        and not (node.n_outputs > 2 and node.type == "LSTM")
        and set(tensors) == {"R"}
        and tensors["R"].value is not None
    )


def _cell_step(b, cell, layer, x, states, tensors, lengths, index):
    """(output, states) of one step; sequences that have ended give zeros and keep their state."""
    new = cell.step(b, layer, x, states, tensors)
    if lengths is None:
        return new[0], new
    is_active = b.EXPAND_DIMS(b.GREATER(lengths, index), np.int32(1))
    out = b.SELECT_V2(is_active, new[0], like(new[0], 0, b))
    return out, [b.SELECT_V2(is_active, *pair) for pair in zip(new, states, strict=True)]


def _looped(node, b, cell, layer, x, states, tensors, lengths):
    """A WHILE over the steps; parameters that are computed are values of it."""
    computed = [k for k, v in tensors.items() if v.value is None]
    values: list[Any] = [b.constant(np.int32(0)), x, *(tensors[k] for k in computed)]
    n_fixed, n_states = len(values), len(states)
    values += [] if lengths is None else [lengths]
    n_before = len(values)
    count = x.dims[0]
    length = np.int32(count) if count is not None else dimension(x, 0, b)
    batch = x.dims[1]
    if count is not None and batch is not None:
        rows = b.constant(np.zeros((count, batch, layer.hidden_size), x.dtype))
    else:
        sizes = b.SHAPE(x, out_type="INT32")
        sizes = b.CONCATENATION(
            b.SLICE(sizes, int32s([0]), int32s([2])), int32s([layer.hidden_size]), axis=0
        )
        rows = b.FILL(sizes, like(x, 0, b))
    values += [*states, rows]

    def check(inner, inputs):
        total = inner.constant(length) if count is not None else dimension(inputs[1], 0, inner)
        return inner.LESS(inputs[0], total)

    def step(_, inner, inputs):
        index, all_x = inputs[:2]
        inner_tensors = {
            k: inner.constant(v.value) for k, v in tensors.items() if k not in computed
        }
        inner_tensors |= dict(zip(computed, inputs[2:n_fixed], strict=True))
        ends = None if lengths is None else inputs[n_fixed]
        current = inputs[n_before : n_before + n_states]
        row = inner.GATHER(all_x, index)
        out, new = _cell_step(inner, cell, layer, row, current, inner_tensors, ends, index)
        start = inner.CONCATENATION(
            inner.RESHAPE(index, int32s([1])), np.zeros(2, np.int32), axis=0
        )
        tall = inner.DYNAMIC_UPDATE_SLICE(inputs[-1], inner.EXPAND_DIMS(out, np.int32(0)), start)
        return [inner.ADD(index, np.int32(1)), *inputs[1:n_before], *new, tall]

    results = run_loop(node, b, values, [], check, step)
    return results[-1], list(results[n_before : n_before + n_states])
