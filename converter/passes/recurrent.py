"""LSTM_SEQUENCE and RNN_SEQUENCE, recognised in loops over the steps of a sequence.

What an iteration computes before its activations is read as a linear function of a step and of the
state, whichever way a source writes it: one product or several, biases anywhere, the product with
the steps inside the loop or before it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from ..ir.builder import Builder
from ..ir.graph import Graph, Op, Tensor
from .driver import rewrite
from .loops import CountedLoop, collected, counted_loop
from .rewrite import NONE, activation_of, builder, constant_of, producer_of

Source = tuple[Tensor, int]
"""A sequence and the axis of its steps, or a state and -1."""
ACTIVATIONS = ("TANH", "RELU", "RELU6", "RELU_N1_TO_1")
"""Operators that a sequence has as its activation."""


class Linear(NamedTuple):
    """sum(source @ weights.T) + bias.

    Attributes:
        weights: source -> [rows, columns].
        bias: [rows], or a scalar.
    """

    weights: dict[Source, np.ndarray]
    bias: np.ndarray

    def plus(self, other: Linear) -> Linear:
        """The sum of both."""
        weights = dict(self.weights)
        for source, matrix in other.weights.items():
            weights[source] = weights[source] + matrix if source in weights else matrix
        return Linear(weights, np.asarray(self.bias + other.bias))

    def rows(self, first: int, last: int) -> Linear:
        """Some of its results."""
        weights = {source: matrix[first:last] for source, matrix in self.weights.items()}
        return Linear(weights, self.bias[first:last] if self.bias.ndim else self.bias)


class Cell(NamedTuple):
    """What an iteration computes.

    Attributes:
        kind: the pseudo-operator.
        states: the positions of the loop's values that are its states, the hidden one first.
        gates: before their activations; of an LSTM input, forget, cell, output.
        activation: the number of the function of the candidate and of the result.
    """

    kind: str
    states: tuple[int, ...]
    gates: tuple[Linear, ...]
    activation: int


@rewrite("WHILE")
def fuse_recurrent_loops(graph: Graph, op: Op) -> bool:
    """Recognises a loop over all steps of a sequence whose body is an LSTM or RNN cell.

        x, h, c -> WHILE(GATHER(x, i) -> FULLY_CONNECTED -> ... -> h, c; rows[i] = h) -> rows
            becomes      x -> LSTM_SEQUENCE -> y

    Holds off where gates have another function than the logistic one, where the last cell state or
    a counter is read, where steps are masked or left out, and where something else is computed.
    """
    loop = counted_loop(op)
    if loop is None or loop.count == 0:
        return False
    reader = _Reader(loop)
    cell = reader.lstm() or reader.rnn()
    if cell is None:
        return False
    sequence = _sequence(loop, cell)
    if sequence is None or not _needs_only_outputs(graph, loop, cell):
        return False
    _write(graph, loop, cell, *sequence, reader.counter)
    return True


class _Reader:
    """Reads the body of a loop.

    Attributes:
        counter: the position of the value that numbers the steps, once a step was met.
    """

    def __init__(self, loop: CountedLoop) -> None:
        self.loop = loop
        self.counter: int | None = None
        self._collects = {i: collected(loop, i) for i in loop.updated}
        self._states = [i for i in loop.updated if self._collects[i] is None]

    def lstm(self) -> Cell | None:
        """c' = s(f) * c + s(i) * a(g), h' = s(o) * a(c')."""
        if len(self._states) != 2:
            return None
        for hidden, memory in (self._states, self._states[::-1]):
            new_h, new_c = (self.loop.body.outputs[i] for i in (hidden, memory))
            result = self._product(new_h)
            if result is None or result[1][0] is not new_c:
                continue
            output, (_, activation) = result
            sums = self._sum_of_products(new_c, self.loop.body.inputs[memory])
            if sums is None or sums[2] != activation:
                return None
            gates = [self._linear(x) for x in (sums[1][0], sums[0], sums[1][1], output)]
            if any(gate is None for gate in gates):
                return None
            parts = tuple(gate for gate in gates if gate is not None)
            return self._cell("LSTM_SEQUENCE", (hidden, memory), parts, activation)
        return None

    def rnn(self) -> Cell | None:
        """h' = a(z)."""
        if len(self._states) != 1:
            return None
        (hidden,) = self._states
        y, activation = _activated(self.loop.body.outputs[hidden])
        gate = self._linear(y, ignored=activation)
        if gate is None:
            return None
        return self._cell("RNN_SEQUENCE", (hidden,), (gate,), activation)

    def _cell(
        self, kind: str, states: tuple[int, ...], gates: tuple[Linear, ...], activation: int
    ) -> Cell | None:
        """The cell, where every collected row is its hidden state."""
        rows = [row for row in self._collects.values() if row is not None]
        new_hidden = self.loop.body.outputs[states[0]]
        return (
            Cell(kind, states, gates, activation)
            if all(y is new_hidden and counter in (None, self.counter) for y, counter in rows)
            else None
        )

    def _product(self, y: Tensor) -> tuple[Tensor, tuple[Tensor, int]] | None:
        """(z, (x, a)) of s(z) * a(x)."""
        product = producer_of(y, "MUL")
        if product is None or activation_of(product) != NONE:
            return None
        for first, second in (product.inputs, product.inputs[::-1]):
            gate = producer_of(first, "LOGISTIC")
            if gate is not None and second is not None:
                return gate.inputs[0], _activated(second)
        return None

    def _sum_of_products(
        self, y: Tensor, memory: Tensor
    ) -> tuple[Tensor, tuple[Tensor, Tensor], int] | None:
        """(f, (i, g), a) of s(f) * memory + s(i) * a(g)."""
        addition = producer_of(y, "ADD")
        if addition is None or activation_of(addition) != NONE:
            return None
        for first, second in (addition.inputs, addition.inputs[::-1]):
            forgotten, new = self._product(first), self._product(second)
            if forgotten is not None and new is not None and forgotten[1] == (memory, NONE):
                return forgotten[0], (new[0], new[1][0]), new[1][1]
        return None

    def _linear(self, y: Tensor | None, ignored: int = NONE) -> Linear | None:
        """`y` as a linear function of a step and the hidden state; None for other functions.

        Args:
            y: a tensor of the body.
            ignored: an activation that the operator that gives `y` may have.
        """
        op = None if y is None else y.producer
        if y is None or op is None:
            value = constant_of(y)
            return (
                None
                if value is None or value.size != max(value.shape, default=1)
                else Linear({}, value.reshape(-1) if value.size > 1 else value.reshape(()))
            )
        if activation_of(op) not in (NONE, ignored):
            return None
        if op.kind == "FULLY_CONNECTED":
            return self._dense(op)
        if op.kind == "ADD":
            first, second = (self._linear(x) for x in op.inputs)
            return None if first is None or second is None else first.plus(second)
        if op.kind in ("SPLIT", "SPLIT_V"):
            return self._part(op, y)
        if op.kind == "GATHER":
            return self._projected(op)
        if op.kind in ("RESHAPE", "SQUEEZE") and _is_one_row(op.inputs[0], y):
            return self._linear(op.inputs[0])
        return None

    def _part(self, op: Op, y: Tensor) -> Linear | None:
        """One of the parts of a tensor along its last axis."""
        axis = constant_of(op.inputs[0] if op.kind == "SPLIT" else op.inputs[2])
        x = op.inputs[1] if op.kind == "SPLIT" else op.inputs[0]
        if axis is None or x is None or x.rank != 2 or axis.item() not in (1, -1):
            return None
        form = self._linear(x)
        first = 0
        for output in op.outputs:
            width = output.dims[-1]
            if form is None or width is None:
                return None
            if output is y:
                return form.rows(first, first + width)
            first += width
        return None

    def _dense(self, op: Op) -> Linear | None:
        """A product of steps and states with constant weights."""
        x, weights, bias = op.inputs[0], constant_of(op.inputs[1]), op.input(2)
        offset = np.zeros(1, np.float32).reshape(()) if bias is None else constant_of(bias)
        if weights is None or offset is None or weights.dtype != np.float32 or x is None:
            return None
        joined = producer_of(x, "CONCATENATION")
        parts = [x] if joined is None else [part for part in joined.inputs if part is not None]
        if joined is not None and joined.options.axis not in (1, -1):
            return None
        form, first = Linear({}, offset), 0
        for part in parts:
            source, width = self._source(part), part.dims[-1] if part.rank == 2 else None
            if source is None or width is None:
                return None
            form = form.plus(Linear({source: weights[:, first : first + width]}, np.zeros(())))
            first += width
        return form if first == weights.shape[1] else None

    def _source(self, x: Tensor) -> Source | None:
        """The sequence of which `x` is a step, or the state that it is."""
        if self.loop.position(x) in self._states:
            return x, -1
        op = x.producer
        return self._sequence(op) if op is not None and op.kind == "GATHER" else None

    def _sequence(self, op: Op) -> Source | None:
        """The sequence, outside the loop, whose step a GATHER takes."""
        x, index = (self.loop.position(tensor) for tensor in op.inputs)
        if x is None or index is None or x not in self.loop.invariants or op.options.batch_dims:
            return None
        if self.counter not in (None, index):
            return None
        if not (self.loop.is_forward(index) or self.loop.is_backward(index)):
            return None
        sequence = self.loop.op.input(x)
        if sequence is None or sequence.rank != 3 or sequence.sizes is None:
            return None
        axis = op.options.axis
        if axis not in (0, 1) or sequence.sizes[axis] != self.loop.count:
            return None
        self.counter = index
        return sequence, axis

    def _projected(self, op: Op) -> Linear | None:
        """A step of what a product gave for all steps before the loop."""
        source = self._sequence(op)
        dense = None if source is None else producer_of(source[0], "FULLY_CONNECTED")
        if source is None or dense is None or activation_of(dense) != NONE:
            return None
        x, weights, bias = dense.inputs[0], constant_of(dense.inputs[1]), dense.input(2)
        offset = np.zeros(()) if bias is None else constant_of(bias)
        if weights is None or offset is None or weights.dtype != np.float32 or x is None:
            return None
        if x.rank != 3 or not dense.options.keep_num_dims:
            return None
        return Linear({(x, source[1]): weights}, offset)


def _activated(y: Tensor) -> tuple[Tensor, int]:
    """(x, number of the activation) of a(x); of the operator that gives `y` where it has one."""
    op = y.producer
    if op is None:
        return y, NONE
    if op.kind in ACTIVATIONS and op.inputs[0] is not None:
        return op.inputs[0], ACTIVATION_FUNCTION_TYPE[op.kind]
    return y, activation_of(op)


def _sequence(loop: CountedLoop, cell: Cell) -> tuple[Tensor, int] | None:
    """(the one sequence whose steps all gates read, the axis of its steps)."""
    hidden = loop.body.inputs[cell.states[0]], -1
    sources = {source for gate in cell.gates for source in gate.weights} - {hidden}
    if len(sources) != 1:
        return None
    (sequence,) = sources
    units = hidden[0].dims[-1] if hidden[0].rank == 2 else None
    shapes = [gate.weights[hidden].shape for gate in cell.gates if hidden in gate.weights]
    is_square = units is not None and all(shape == (units, units) for shape in shapes)
    has_all = all(sequence in gate.weights for gate in cell.gates)
    is_float = sequence[0].dtype == hidden[0].dtype == np.float32
    return sequence if is_square and has_all and is_float and sequence[1] >= 0 else None


def _needs_only_outputs(graph: Graph, loop: CountedLoop, cell: Cell) -> bool:
    """Whether nothing reads the last cell state, or where a counter ends."""
    hidden_values = {*loop.counters, *cell.states[1:]}
    return not any(
        loop.op.outputs[i].readers or graph.is_output(loop.op.outputs[i]) for i in hidden_values
    )


def _write(
    graph: Graph, loop: CountedLoop, cell: Cell, x: Tensor, axis: int, counter: int | None
) -> None:
    """Puts the pseudo-operator in the place of a loop."""
    b = builder(graph, loop.op)
    backward = counter is not None and loop.is_backward(counter)
    if axis == 0 and (batch_major := _batch_major(b, x)) is not None:
        x, axis = batch_major, 1
    steps_axis = np.asarray([axis], np.int32)
    if backward:
        x = b.REVERSE_V2(x, steps_axis)
    y = _layer(b, loop, cell, x, axis)
    for i, old in enumerate(loop.op.outputs):
        if not old.readers and not graph.is_output(old):
            continue
        row = collected(loop, i)
        if i in loop.invariants:
            new = loop.op.inputs[i]
        elif row is None:
            new = _last_step(b, y, axis)
        elif row[1] is None:
            new = b.EXPAND_DIMS(_last_step(b, y, axis), np.asarray(0, np.int32))
        else:
            new = b.REVERSE_V2(y, steps_axis) if backward else y
            new = new if axis == 0 else b.TRANSPOSE(new, np.asarray([1, 0, 2], np.int32))
        if i not in loop.invariants:
            new.origin = old.origin
        graph.replace(old, new)
    graph.remove(loop.op)


def _batch_major(b: Builder, x: Tensor) -> Tensor | None:
    """Sequences whose batch comes first, of which `x` has the steps first; None where it is
    computed so.
    """
    reverse = producer_of(x, "REVERSE_V2")
    axes = None if reverse is None else constant_of(reverse.inputs[1])
    if reverse is not None and axes is not None and axes.tolist() == [0]:
        before = _batch_major(b, reverse.inputs[0])
        return None if before is None else b.REVERSE_V2(before, np.asarray([1], np.int32))
    moved = producer_of(x, "TRANSPOSE", "RESHAPE")
    if moved is None:
        return None
    before = moved.inputs[0]
    if moved.kind == "RESHAPE":
        is_swap = x.dims[1] == 1 and before.shape == tuple(x.dims[i] for i in (1, 0, 2))
    else:
        order = constant_of(moved.inputs[1])
        is_swap = order is not None and order.tolist() == [1, 0, 2]
    return before if is_swap else None


def _layer(b: Builder, loop: CountedLoop, cell: Cell, x: Tensor, axis: int) -> Tensor:
    """The pseudo-operator on sequences with the steps along an axis."""
    hidden = loop.body.inputs[cell.states[0]], -1
    units = hidden[0].dims[-1] or 0
    square, sums = np.zeros((units, units), np.float32), np.zeros(units, np.float32)
    weights = [w for gate in cell.gates for s, w in gate.weights.items() if s != hidden]
    recurrent = [gate.weights.get(hidden, square) for gate in cell.gates]
    biases = [np.broadcast_to(gate.bias, sums.shape).astype(np.float32) for gate in cell.gates]
    initial = [loop.op.input(i) for i in cell.states]
    if all(_is_zero(state) for state in initial):
        initial = []
    y = b.op(
        cell.kind,
        x,
        np.concatenate(weights),
        np.concatenate(recurrent),
        np.concatenate(biases),
        np.asarray(cell.activation, np.int32),
        np.asarray(axis == 0),
        *initial,
    )
    y.producer.implements = loop.op.implements
    return y


def _is_one_row(x: Tensor | None, y: Tensor) -> bool:
    """Whether `y` is the only row of `x`: Keras 3 takes the batch of one out of a product."""
    return x is not None and x.rank == 2 and x.dims[0] == 1 and y.dims in (x.dims, x.dims[1:])


def _is_zero(state: Tensor | None) -> bool:
    """Whether a state starts from zeros."""
    fill = producer_of(state, "FILL")
    value = constant_of(state if fill is None else fill.inputs[1])
    return producer_of(state, "ZEROS_LIKE") is not None or (value is not None and not value.any())


def _last_step(b: Builder, y: Tensor, axis: int) -> Tensor:
    """The last step of sequences."""
    begin, end, stride = np.zeros(3, np.int32), np.zeros(3, np.int32), np.ones(3, np.int32)
    steps = y.dims[axis]
    begin[axis], others = (-1 if steps is None else steps - 1), 7 & ~(1 << axis)
    if steps is not None:
        end[axis] = steps
    return b.STRIDED_SLICE(
        y,
        begin,
        end,
        stride,
        begin_mask=others,
        end_mask=others if steps is not None else 7,
        shrink_axis_mask=1 << axis,
    )
