"""Recurrent operators as their formulas, one step after another; states are zeros at first."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...graph.core.build import number, ops
from ...graph.functions.flow.loops import while_loop
from ...graph.functions.flow.tensor_array import TensorArray
from ...schema.tables import ACTIVATION_FUNCTION_TYPE
from .elementwise import FUSED_ACTIVATIONS
from .registry import raises

GATES = 4
NORM_EPSILON = 1e-8
ACTIVATIONS = {
    ACTIVATION_FUNCTION_TYPE[name]: function
    for name, function in {"NONE": lambda x: x, "TANH": ops.Tanh, **FUSED_ACTIVATIONS}.items()
}


def clipped(x, limit):
    """`x` within a limit on both sides; as it is without one."""
    if x is None or limit <= 0:
        return x
    return ops.ClipByValue(x, number(-limit, x), number(limit, x))


def activation(node):
    """The function that the option names."""
    kind = int(node.options.fused_activation_function)
    node.require(kind in ACTIVATIONS, "fused_activation_function must not be SIGN_BIT")
    return ACTIVATIONS[kind]


def plus(*terms: Any) -> Any:
    """The sum of what there is, None of nothing."""
    present = [term for term in terms if term is not None]
    total = present[0] if present else None
    for term in present[1:]:
        total = total + term
    return total


def times(x, weights):
    """x @ weights, None where either is."""
    return None if x is None or weights is None else ops.MatMul(x, weights)


def matrix(node, i):
    """Weights [n, k] of the file as [k, n]."""
    return node.arranged(i, order=(1, 0))


def vector(node, i):
    """A bias, or a vector of weights."""
    return node.arranged(i)


def over_steps(node, x, step, states, sizes, backwards=False):
    """The results of `step(x, states) -> (result, states)` at all steps of a sequence.

    A loop, or one after another where that is asked for and their number is known; `sizes` are
    those of the states, which are zeros where they are None.
    """
    axis = 0 if node.options.time_major else 1
    n = None if x.sizes is None else x.sizes[axis]
    if n is None or not node.body.raiser.unroll:
        return looped(x, axis, step, states, sizes, backwards)
    parts, results = ops.Unpack(x, num=int(n), axis=axis), []
    for part in reversed(parts) if backwards else parts:
        result, states = step(part, states)
        results.append(result)
    return ops.Pack(results[::-1] if backwards else results, axis=axis)


def looped(x, axis, step, states, sizes, backwards):
    """The same of a sequence of any length."""
    order, turned = np.array([1, 0, 2], np.int32), np.array([0], np.int32)
    rows = x if axis == 0 else ops.Transpose(x, order)
    rows = ops.ReverseV2(rows, turned) if backwards else rows
    n = ops.GatherV2(ops.Shape(rows), np.int32(0), np.int32(0))
    inputs = TensorArray(x.dtype, size=n).unstack(rows)
    batch = ops.StridedSlice(ops.Shape(rows), np.array([1]), np.array([2]), np.array([1]))
    starts = [
        zeros(batch, size, x.dtype) if state is None else state
        for state, size in zip(states, sizes, strict=True)
    ]

    def turn(i, results, *before):
        result, after = step(inputs.read(i), before)
        return i + 1, results.write(i, result), *after

    start = (np.int32(0), TensorArray(x.dtype, size=n), *starts)
    after: Any = while_loop(lambda i, *_: ops.Less(i, n), turn, start)
    y = after[1].stack()
    y = ops.ReverseV2(y, turned) if backwards else y
    return y if axis == 0 else ops.Transpose(y, order)


def side_by_side(inputs):
    """Several sequences as one, for a step that takes them apart."""
    sizes = [None if x.sizes is None else x.sizes[-1] for x in inputs]
    return (inputs[0] if len(inputs) == 1 else ops.ConcatV2(inputs, np.int32(-1))), sizes


def parts_of(x, sizes):
    """What `side_by_side` put together."""
    if len(sizes) == 1:
        return [x]
    return ops.SplitV(x, np.array(sizes, np.int32), np.int32(-1), num_split=len(sizes))


def rnn_step(node, weights, recurrent, bias, sizes):
    """h = activation(x @ weights + h @ recurrent + bias)."""
    matrices = [matrix(node, i) for i in weights]
    again, offset, function = matrix(node, recurrent), vector(node, bias), activation(node)

    def step(x, states):
        products = [times(p, w) for p, w in zip(parts_of(x, sizes), matrices, strict=True)]
        h = function(plus(*products, times(states[0], again), offset))
        return h, (h,)

    return step


_RNN_DEFERRED = tuple(range(1, 5))


@raises("RNN", deferred=_RNN_DEFERRED)
def rnn(node, x, *_):
    """One step."""
    return rnn_step(node, [1], 2, 3, [None])(x, [node.operand(4)])[0]


@raises("UNIDIRECTIONAL_SEQUENCE_RNN", deferred=_RNN_DEFERRED)
def unidirectional_sequence_rnn(node, x, *_):
    """A sequence from its start."""
    step = rnn_step(node, [1], 2, 3, [None])
    return over_steps(node, x, step, [node.operand(4)], node.sizes(2)[:1])


@raises("BIDIRECTIONAL_SEQUENCE_RNN", deferred=tuple(range(1, 12)))
def bidirectional_sequence_rnn(node, x, *_):
    """A sequence from both its ends; an auxiliary one with weights is added in both directions.

    Without, it is the second one's input when `time_major`; else TFLite does not look at it.
    """
    other = node.operand(9) if node.has(9) else None
    is_added = other is not None and node.has(10)
    joined, sizes = side_by_side([x, other] if is_added else [x])
    second = other if node.options.time_major and not is_added and other is not None else joined
    forward = rnn_step(node, [1, 10][: len(sizes)], 2, 3, sizes)
    backward = rnn_step(node, [5, 11][: len(sizes)], 6, 7, sizes)
    pair = [
        over_steps(node, joined, forward, [node.operand(4)], node.sizes(2)[:1]),
        over_steps(node, second, backward, [node.operand(8)], node.sizes(6)[:1], backwards=True),
    ]
    return ops.ConcatV2(pair, np.int32(2)) if node.options.merge_outputs else pair


def lstm_step(node, first, sizes, norms=None, auxiliary=None):
    """A step of long short-term memory, whose operands follow operand `first`.

    Gates are input, forget, new and output; without an input gate it is 1 less the forget gate.
    """
    options = node.options
    is_diagonal = bool(getattr(options, "diagonal_recurrent_tensors", False))
    function = activation(node)
    gates = range(GATES)
    weights = [[matrix(node, first + 1 + g) for g in gates]]
    if len(sizes) > 1:
        weights.append([matrix(node, (auxiliary or 0) + g) for g in gates])
    recurrent = [(vector if is_diagonal else matrix)(node, first + 5 + g) for g in gates]
    peepholes = dict(zip((0, 1, 3), (vector(node, first + 9 + k) for k in range(3)), strict=True))
    biases = [vector(node, first + 12 + g) for g in gates]
    scales = [None if norms is None else vector(node, norms + g) for g in gates]
    projection, offset = matrix(node, first + 16), vector(node, first + 17)

    def summed(g, parts, h, c):
        """What goes into a gate's function; None where there is no such gate."""
        if recurrent[g] is None:
            return None
        again = None if h is None else h * recurrent[g] if is_diagonal else times(h, recurrent[g])
        products = [times(p, w[g]) for p, w in zip(parts, weights, strict=True)]
        peephole = peepholes.get(g)
        peephole_term = None if peephole is None or c is None else c * peephole
        total = plus(*products, again, peephole_term)
        if scales[g] is None:
            return plus(total, biases[g])
        return plus(normalized(total) * scales[g], biases[g])

    def step(x, states):
        h, c = states
        parts = parts_of(x, sizes)
        forget = ops.Sigmoid(summed(1, parts, h, c))
        entering = summed(0, parts, h, c)
        entering = number(1, forget) - forget if entering is None else ops.Sigmoid(entering)
        new = function(summed(2, parts, h, c))
        remembered = None if c is None else forget * c
        c = clipped(plus(remembered, entering * new), float(options.cell_clip))
        # TFLite's kernels do not copy the cell without an activation: the new values are there
        activated = function(c) if options.fused_activation_function else new
        h = ops.Sigmoid(summed(3, parts, h, c)) * activated
        if projection is not None:
            h = clipped(plus(times(h, projection), offset), float(options.proj_clip))
        return h, (h, c)

    return step


def states_at(node, first):
    """The hidden and the cell state."""
    return node.operand(first), node.operand(first + 1)


def lstm_sizes(node, first):
    """The sizes of the hidden and the cell state."""
    n = node.weight_sizes(first + 2)[0]
    return (node.weight_sizes(first + 16)[0] if node.has(first + 16) else n), n


def normalized(x):
    """`x` less its mean, over its deviation, along the last axis."""
    axis = np.array([-1], np.int32)
    distance = x - ops.Mean(x, axis, keep_dims=True)
    variance = ops.Mean(ops.Square(distance), axis, keep_dims=True)
    return distance * ops.Rsqrt(variance + number(NORM_EPSILON, x))


@raises("UNIDIRECTIONAL_SEQUENCE_LSTM", deferred=tuple(range(1, 24)))
def unidirectional_sequence_lstm(node, x, *_):
    """A sequence from its start."""
    step = lstm_step(node, 0, [None], norms=20)
    return over_steps(node, x, step, states_at(node, 18), lstm_sizes(node, 0))


@raises("BIDIRECTIONAL_SEQUENCE_LSTM", deferred=tuple(range(1, 48)))
def bidirectional_sequence_lstm(node, x, *_):
    """A sequence from both its ends.

    An auxiliary one with weights is added in both directions; without, the second one takes it.
    """
    other, has_weights = node.operand(39), node.has(41)
    backward_input = x if other is None or has_weights else other
    more = [other] if has_weights else []
    joined, sizes = side_by_side([x, *more])
    other_joined, _ = side_by_side([backward_input, *more])
    forward = lstm_step(node, 0, sizes, auxiliary=40)
    backward = lstm_step(node, 17, sizes, auxiliary=44)
    pair = [
        over_steps(node, joined, forward, states_at(node, 35), lstm_sizes(node, 0)),
        over_steps(node, other_joined, backward, states_at(node, 37), lstm_sizes(node, 17), True),
    ]
    return ops.ConcatV2(pair, np.int32(2)) if node.options.merge_outputs else pair


@raises("LSTM", deferred=tuple(range(1, 24)))
def lstm(node, x, *_):
    """One step: of the full cell, or of the basic one with a matrix for all gates."""
    if not node.options.kernel_type:
        step = lstm_step(node, 0, [None], norms=20)
        return step(x, states_at(node, 18))[0]
    node.require(
        node.op.inputs[0].dtype.kind == "f",
        "the states of the basic cell of uint8 start from -1; convert its float form",
    )
    n = node.sizes(2)[0] // GATES
    rows = ops.StridedSlice(ops.Shape(x), np.array([0]), np.array([1]), np.array([1]))
    states = node.operand(1), node.operand(4)
    last, c = (zeros(rows, n, x.dtype) if state is None else state for state in states)
    joined = ops.ConcatV2([x, last], np.int32(1))
    sums = ops.BiasAdd(times(joined, matrix(node, 2)), vector(node, 3))
    entering, new, forget, output = ops.Split(np.int32(1), sums, num_split=GATES)
    c = ops.Sigmoid(entering) * ops.Tanh(new) + ops.Sigmoid(forget) * c
    return [ops.Sigmoid(output) * ops.Tanh(c), c, joined, sums]


def zeros(batch, size, dtype):
    """Zeros [batch, size], where `batch` is a vector of one number."""
    shape = ops.ConcatV2([batch, np.array([size], np.int32)], np.int32(0))
    return ops.Fill(shape, np.zeros((), dtype))


@raises("SVDF", deferred=(1, 2, 3, 4))
def svdf(node, x, *_):
    """Filters of the features of the last inputs; before the first one there were zeros."""
    features: Any = times(x, matrix(node, 1))
    bias = vector(node, 3)
    filters, memory = node.weight_sizes(2)
    n_rank, state = int(node.options.rank), node.operand(4)
    times_of = node.arranged(2)
    if state is None:
        last = ops.StridedSlice(
            times_of,
            np.array([0, memory - 1]),
            np.array([0, 0]),
            np.array([1, 1]),
            begin_mask=1,
            end_mask=1,
            shrink_axis_mask=2,
        )
        weighted = features * last
    else:
        memory_rows = ops.Reshape(state, np.array([-1, filters, memory], np.int32))
        memory_rows = ops.StridedSlice(
            memory_rows,
            np.array([0, 0, 1]),
            np.array([0, 0, 0]),
            np.array([1, 1, 1]),
            begin_mask=3,
            end_mask=7,
        )
        now = ops.ConcatV2([memory_rows, ops.ExpandDims(features, np.int32(2))], np.int32(2))
        weighted = ops.Sum(now * times_of, np.array([2], np.int32))
    units = ops.Reshape(weighted, np.array([-1, filters // n_rank, n_rank], np.int32))
    return activation(node)(plus(ops.Sum(units, np.array([2], np.int32)), bias))
