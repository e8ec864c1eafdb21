"""Recurrent nets over cells of their own, given `tf`: rnn_programs.json has TensorFlow's values."""

from __future__ import annotations

import numpy as np

PROGRAMS = []
X = np.linspace(-1, 1, 5 * 2 * 3).reshape(5, 2, 3).astype(np.float32)


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


class Cell:
    """tanh(x + s) and s * 0.5 + x, of one tensor or of a pair of them."""

    def __init__(self, tf, is_pair=False):
        self.tf = tf
        self.state_size = self.output_size = (3, 3) if is_pair else 3

    def zero_state(self, batch_size, dtype):
        """A state of zeros."""
        size = self.state_size
        zeros = self.tf.zeros([batch_size, 3], dtype)
        return (zeros, zeros) if isinstance(size, tuple) else zeros

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        """The same."""
        return self.zero_state(batch_size, dtype)

    def __call__(self, inputs, state, scope=None):
        """Output and next state."""
        if isinstance(self.state_size, tuple):
            pairs = [self._one(x, s) for x, s in zip(inputs, state, strict=True)]
            return tuple(y for y, _ in pairs), tuple(s for _, s in pairs)
        return self._one(inputs, state)

    def _one(self, x, s):
        return self.tf.tanh(x + s), s * 0.5 + x


class Counter(Cell):
    """Counts steps in a scalar beside a state that it leaves as it is, or in a TensorArray."""

    def __init__(self, tf):
        super().__init__(tf)
        self.state_size, self.output_size = (tf.TensorShape([]), 3), 1

    def __call__(self, inputs, state, scope=None):
        """The count for each row, and the next state."""
        count, other = state
        return self.tf.fill([2, 1], count), (count + 1.0, other * inputs)


class Writer(Cell):
    """Writes what it gets into an array."""

    def __init__(self, tf):
        super().__init__(tf)
        self.state_size, self.output_size = (tf.TensorShape([]), ()), 3

    def __call__(self, inputs, state, scope=None):
        """The input, and the array after a write."""
        time, array = state
        return inputs * 2.0, (time + 1, array.write(time, inputs))


@program
def raw_with_lengths(tf):
    """Inputs from an array; rows of unequal length; gradients."""
    x, lengths = tf.constant(X), tf.constant([3, 5])
    inputs = tf.TensorArray(tf.float32, 5).unstack(x)

    def step(time, output, state, loop_state):
        finished = time >= lengths
        after = tf.zeros([2, 3]) if output is None else state
        cell_input = tf.cond(
            tf.reduce_all(finished), lambda: tf.zeros([2, 3]), lambda: inputs.read(time)
        )
        cell_input.set_shape([2, 3])
        return finished, cell_input, after, output, None

    emitted, last, loop_state = tf.nn.raw_rnn(Cell(tf), step)
    y = emitted.stack()
    return [y, last, *tf.gradients(tf.reduce_sum(y * y), x), tf.constant(loop_state is None)]


@program
def raw_with_loop_state(tf):
    """What is emitted has its own structure and type; a count goes from step to step."""

    def step(time, output, state, loop_state):
        if output is None:
            emitted = (tf.zeros([2, 2], tf.int32), tf.zeros([3]))
            begin = tf.ones([2, 3]), tf.zeros([2, 3])
            return tf.zeros([2], tf.bool), *begin, emitted, (tf.constant(1),)
        count = loop_state[0] + time
        emitted = (tf.fill([2, 2, 2], count), output * 2.0)
        finished = tf.stack([time >= 2, time >= 4])
        return finished, output, state, emitted, (count,)

    (numbers, outputs), last, (count,) = tf.nn.raw_rnn(Cell(tf), step)
    return [numbers.stack(), outputs.stack(), last, count]


@program
def state_saving(tf):
    """States that variables keep from run to run."""

    class Saver:
        def __init__(self):
            self.variables = {
                name: tf.get_variable(name, initializer=tf.ones([2, 3])) for name in "abc"
            }

        def state(self, name):
            return self.variables[name].read_value()

        def save_state(self, name, value):
            return self.variables[name].assign(value)

    saver, steps = Saver(), [tf.constant(x) for x in X]
    pairs = [(x, x + 1.0) for x in steps]
    outputs, last = tf.nn.static_state_saving_rnn(Cell(tf), steps, saver, "c", [2, 4])
    more, last_pair = tf.nn.static_state_saving_rnn(Cell(tf, True), pairs, saver, ("a", "b"))
    return [outputs[-1], last, *more[-1], *last_pair]


@program
def pairs_in_both_directions(tf):
    """Inputs, states and outputs that are pairs."""
    steps = [(tf.constant(x), tf.constant(x * 2)) for x in X]
    cell = Cell(tf, True)
    outputs, forward, backward = tf.nn.static_bidirectional_rnn(
        cell, cell, steps, dtype=tf.float32, sequence_length=[3, 5]
    )
    return [*(x for pair in outputs for x in pair), *forward, *backward]


@program
def scalar_and_array_states(tf):
    """States that have no rows to choose from."""
    start = tf.constant(0.0), tf.ones([2, 3])
    counts, last = tf.nn.dynamic_rnn(
        Counter(tf), tf.constant(X), [3, 5], initial_state=start, dtype=tf.float32, time_major=True
    )
    array = tf.TensorArray(tf.float32, 5)
    doubled, (time, array) = tf.nn.dynamic_rnn(
        Writer(tf), tf.constant(X), initial_state=(tf.constant(0), array), dtype=tf.float32,
        time_major=True,
    )  # fmt: skip
    return [counts, *last, doubled, time, array.stack()]


@program
def a_state_in_one_gradient(tf):
    """A pair among what is differentiated counts as one tensor."""
    x = tf.constant(X[0])
    return tf.gradients([tf.square(x), (x * 2.0, tf.exp(x))], x)


def refusals(tf):
    """The types and texts of errors."""
    steps = [tf.zeros([2, 3])]
    calls = [
        lambda: tf.nn.static_rnn(Cell(tf), steps, dtype=tf.float32, sequence_length=4),
        lambda: tf.nn.raw_rnn(Cell(tf), None),
        lambda: tf.nn.static_state_saving_rnn(Cell(tf), steps, None, ("a", "b")),
        lambda: tf.nn.static_state_saving_rnn(Cell(tf, True), steps, None, ("a",)),
    ]
    return [_error(call) for call in calls]


def _error(call):
    try:
        call()
    except (TypeError, ValueError) as error:
        return [type(error).__name__, str(error)]
    raise AssertionError("no error")


def values_of(tf, function):
    """What a program gives in a run, twice."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches = function(tf)
        session.run(tf.global_variables_initializer())
        return [[np.asarray(x).tolist() for x in session.run(list(fetches))] for _ in range(2)]


def outcomes(tf):
    """What each program gives, and the errors."""
    results = {function.__name__: values_of(tf, function) for function in PROGRAMS}
    return {**results, "refusals": refusals(tf)}
