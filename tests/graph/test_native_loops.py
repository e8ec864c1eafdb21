"""Loops, branches and lists as instructions: no Python per iteration, and the same numbers.

The expected values are those of the same program where functions are run by Python.
"""

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite.engine.families import control
from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.families.layout import move
from flatlite.engine.plan.buffer import arena, bound, constant
from flatlite.engine.plan.program import Program
from flatlite.graph.session import compiling, inlining, recording
from flatlite.graph.session.kernels import control as control_kernels

F32 = np.float32


def forbid_python(monkeypatch):
    def fail(*_):
        raise AssertionError("a function was run by Python")

    monkeypatch.setattr(control_kernels.Body, "run", fail)
    monkeypatch.setattr(recording.Recording, "_add_step", fail)


def run_by_python(monkeypatch):
    monkeypatch.setattr(inlining, "WAYS", {})


def counted(n):
    return tf.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, tf.sin(x) * 1.5), (0, X()))[1]


def X():
    return tf.constant([0.5, 1.0, -2.0])


def recurrent():
    x = tf.constant(np.random.RandomState(0).randn(2, 5, 3).astype(F32))
    with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
        cell = tf.nn.rnn_cell.LSTMCell(4)
        outputs, state = tf.nn.dynamic_rnn(cell, x, tf.constant([5, 3]), dtype=tf.float32)
    loss = tf.reduce_sum(tf.sin(outputs)) + tf.reduce_sum(state.c)
    return [outputs, *state, *tf.gradients(loss, [x, *tf.trainable_variables()])]


def mapped():
    x = tf.constant(np.arange(12, dtype=F32).reshape(4, 3))
    y = tf.map_fn(lambda row: tf.exp(row) / tf.reduce_sum(row + 1), x)
    return [y, tf.gradients(y, x)[0], tf.scan(lambda a, b: a * 0.5 + b, x)]


def nested():
    def outer(i, x):
        return i + 1, tf.while_loop(lambda j, _: j < 2, lambda j, y: (j + 1, y * y + x), (0, x))[1]

    return tf.while_loop(lambda i, _: i < 2, outer, (0, X()))[1]


def with_branches():
    x = tf.constant([3.0, -1.0])

    def step(i, y):
        return i + 1, tf.cond(tf.reduce_sum(y) > 1.0, lambda: y * 0.5, lambda: tf.exp(y) + x)

    return tf.while_loop(lambda i, _: i < 6, step, (0, x))[1]


def swapped():
    """Each variable takes the other's value: nothing may be written before it is read."""
    return tf.while_loop(lambda i, *_: i < 5, lambda i, a, b: (i + 1, b, a + b), (0, X(), X() * 3))


def no_iteration():
    """What the iterations have in common must not fail where there are none."""
    far, n = tf.get_variable("far", initializer=7), tf.get_variable("n", initializer=0)
    rows = tf.constant(np.eye(3, dtype=F32))
    return tf.while_loop(lambda i, _: i < n, lambda i, x: (i + 1, tf.gather(rows, far)), (0, X()))[
        1
    ]


def array_read_after_a_write():
    """An array is a value: the one before a write keeps its element."""
    first = tf.TensorArray(tf.float32, 3, element_shape=[2]).write(0, [1.0, 2.0])

    def step(i, array):
        return i + 1, array.write(i, tf.fill([2], tf.cast(i, tf.float32)))

    after = tf.while_loop(lambda i, _: i < 3, step, (1, first))[1]
    changed = after.write(0, [9.0, 9.0])
    return [first.stack(), after.stack(), changed.stack()]


def accumulated():
    """A loop whose length only its values tell, with a gradient."""
    x = tf.constant(3.0)
    y = tf.while_loop(lambda y: y < 100.0, lambda y: y * x, [x], maximum_iterations=20)
    return [y, tf.gradients(y, x)[0]]


def nested_gradient():
    """What the inner loop recorded in each iteration of the outer one is a list of lists."""

    def inner(j, y):
        return j + 1, tf.sin(y) * 1.5 + y

    def outer(i, x):
        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, (0, x))[1] * 0.5

    x = X()
    y = tf.while_loop(lambda i, _: i < 3, outer, (0, x))[1]
    return [y, tf.gradients(y, x)[0]]


def recurrent_in_a_loop():
    x = tf.constant(np.random.RandomState(0).randn(3, 2, 4, 3).astype(F32))

    def last_state(sequence):
        initializer = tf.constant_initializer(0.3)
        with tf.variable_scope("net", initializer=initializer, reuse=tf.AUTO_REUSE):
            cell = tf.nn.rnn_cell.LSTMCell(3)
            return tf.nn.dynamic_rnn(cell, sequence, tf.constant([4, 2]), dtype=tf.float32)[1].h

    y = tf.map_fn(last_state, x)
    return [y, *tf.gradients(y, [x, *tf.trainable_variables()])]


def gradients_of_branches():
    """The branches keep values of unequal shapes for the way back."""
    x, flag = X(), tf.get_variable("flag", initializer=True)
    results = []
    for chosen in (flag, tf.logical_not(flag)):
        y = tf.cond(
            chosen, lambda: tf.exp(tf.sin(x)), lambda: tf.sin(tf.reduce_sum(tf.tanh(x) * 2.0)) * x
        )
        results += [y, tf.gradients(y, x)[0]]
    return results


def second_derivative():
    """y = x^8 / 128 by three squares: y' = x^7 / 16, y'' = 7 x^6 / 16."""
    x = X()
    y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * y * 0.5), (0, x))[1]
    first = tf.gradients(y, x)[0]
    return [y, first, tf.gradients(first, x)[0]]


def counters():
    """Loops that count up and down to numbers, and what their counters are behind them."""
    x = X()
    loops = [
        tf.while_loop(lambda i, _: i > 0, lambda i, y: (i - 2, y + 1.0), (7, x)),
        tf.while_loop(lambda i, _: i >= -3, lambda i, y: (i + (-3), y * 2.0), (6, x)),
        tf.while_loop(lambda i, _: i <= 9, lambda i, y: (3 + i, y - 1.0), (0, x)),
        tf.while_loop(lambda i, _: i < 0, lambda i, y: (i - 1, y), (5, x)),
        tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, y), (0, x), maximum_iterations=1),
    ]
    return [*loops, *(tf.fill([loop[0] + 10], loop[1][0]) for loop in loops)]


def lists_of_unequal_lengths():
    """The inner loop of each iteration has another length: lists of lists of any lengths."""

    def outer(i, x):
        return i + 1, tf.while_loop(
            lambda j, _: j <= i, lambda j, y: (j + 1, tf.sin(y) + y * 0.5), (0, x)
        )[1]

    x = X()
    y = tf.while_loop(lambda i, _: i < 3, outer, (0, x))[1]
    return [y, tf.gradients(y, x)[0]]


def limit():
    """A number of iterations that is not known before the run."""
    return tf.get_variable("limit", initializer=6)


def without_bound():
    """Nothing bounds the loop; second derivatives keep what the first ones kept."""
    n, x = limit(), X()
    y = tf.while_loop(lambda i, _: i < n, lambda i, y: (i + 1, tf.sin(y) * 1.5), (0, x))[1]
    (dy,) = tf.gradients(y, x)
    return [y, dy, tf.gradients(dy, x)[0]]


def loops_within_loops():
    """Three of them, each of a length that only the run tells."""
    n, x = limit(), X()

    def within(depth, m, y):
        if depth == 3:
            return tf.sin(y) * 1.2 + y * 0.1

        def step(i, z):
            return i + 1, within(depth + 1, i % 3, z)

        return tf.while_loop(lambda i, _: i < m, step, (0, y))[1]

    y = within(0, n, x)
    return [y, tf.gradients(y, x)[0]]


def arrays_of_any_size():
    """Arrays that grow, or whose size is not known before the run, and their gradients."""
    n, x = limit(), X()
    results = []
    for size, grows in ((0, True), (n, False)):
        array = tf.TensorArray(tf.float32, size, dynamic_size=grows, element_shape=[3])

        def step(i, y, array):
            y = tf.sin(y) + 0.3
            return i + 1, y, array.write(n - 1 - i, y * tf.cast(i, tf.float32))

        after = tf.while_loop(lambda i, *_: i < n, step, (0, x, array))[2]
        z = after.stack()
        results += [z, tf.gradients(z, x)[0]]
    return results


def arrays_in_branches():
    """Branches write to an array, one of them twice; it is read in the same loop."""
    n, x = limit(), X()
    array = tf.TensorArray(tf.float32, 8, element_shape=[3]).write(0, x)

    def step(i, array):
        before = array.read(i - 1)
        array = tf.cond(
            i % 2 < 1,
            lambda: array.write(i, tf.sin(before)),
            lambda: array.write(i, before * 0.5).write(i + 1, before),
        )
        return i + 1, array

    after = tf.while_loop(lambda i, _: i < n, step, (1, array))[1]
    return [after.stack(), tf.gradients(after.stack(), x)[0]]


def array_that_others_read():
    """A list that one branch changes and the other hands on stays as it was for later readers."""
    n, x = limit(), X()
    array = tf.TensorArray(tf.float32, n, element_shape=[3]).write(1, x)
    changed = tf.cond(n > 3, lambda: array.write(1, x * 2.0).flow, lambda: array.flow)
    twice = tf.TensorArray(tf.float32, flow=changed, element_shape=[3])
    return [array.stack(), twice.stack(), array.write(0, x + 1.0).stack()]


PROGRAMS = [
    lambda: counted(4),
    lambda: counted(0),
    recurrent,
    mapped,
    nested,
    with_branches,
    swapped,
    no_iteration,
    array_read_after_a_write,
    accumulated,
    nested_gradient,
    recurrent_in_a_loop,
    gradients_of_branches,
    second_derivative,
    counters,
    without_bound,
    loops_within_loops,
    lists_of_unequal_lengths,
    arrays_of_any_size,
    arrays_in_branches,
    array_that_others_read,
]


def array_that_grows_in_a_bounded_loop():
    """Its size is read between the loop and its gradient, which needs the lists of the loop."""
    x = tf.constant(np.arange(15, dtype=F32).reshape(5, 3))
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True)

    def step(i, array):
        return i + 1, array.write(i, tf.sin(x[i]) * tf.cast(i, tf.float32))

    y = tf.while_loop(lambda i, _: i < 5, step, (0, array))[1].stack()
    return [y, *tf.gradients(y, x)]


def recurrent_of_any_length():
    """The steps come from one array, and what is emitted goes to another that grows."""
    n, x = limit(), tf.constant(np.random.RandomState(0).randn(9, 2, 3).astype(F32))
    cell = tf.nn.rnn_cell.BasicRNNCell(4)
    array = tf.TensorArray(tf.float32, tf.shape(x)[0] + 0 * n).unstack(x)

    def loop_fn(time, output, state, _):
        state = cell.zero_state(2, tf.float32) if output is None else state
        finished = tf.fill([2], time >= n)
        step = tf.cond(finished[0], lambda: tf.zeros([2, 3]), lambda: array.read(time))
        return finished, step, state, output, None

    with tf.variable_scope("net", initializer=tf.constant_initializer(0.3)):
        emitted, state, _ = tf.nn.raw_rnn(cell, loop_fn)
    y = emitted.stack()
    loss = tf.reduce_sum(y * y) + tf.reduce_sum(state)
    return [y, state, *tf.gradients(loss, cell.trainable_weights)]


def flat(values):
    return [np.asarray(x) for x in tf.nest.flatten(values)]


def results(program, threads=1):
    config = tf.ConfigProto(intra_op_parallelism_threads=threads)
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        fetches = program()
        session.run(tf.global_variables_initializer())
        return [flat(session.run(fetches)) for _ in range(3)]


def check_without_python(program, monkeypatch, threads=1):
    with monkeypatch.context() as patch:
        run_by_python(patch)
        expected = results(program)[0]
    forbid_python(monkeypatch)
    for values in results(program, threads):
        for a, b in zip(values, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("index", range(len(PROGRAMS)))
def test_same_values_without_python(index, threads, monkeypatch):
    check_without_python(PROGRAMS[index], monkeypatch, threads)


@pytest.mark.parametrize(
    "program",
    [arrays_of_any_size, array_that_grows_in_a_bounded_loop, recurrent_of_any_length],
    ids=lambda program: program.__name__,
)
def test_arrays_of_control_flow_v1(program, monkeypatch, control_flow_v1):
    check_without_python(program, monkeypatch)


def test_second_derivative():
    x = np.array([0.5, 1.0, -2.0])
    for values in zip(
        results(second_derivative)[0], [x**8 / 128, x**7 / 16, 7 * x**6 / 16], strict=True
    ):
        np.testing.assert_allclose(*values, rtol=1e-6)


def test_counters():
    counted = [int(values) for values in results(counters)[0][:10:2]]
    assert counted == [-1, -6, 12, 5, 1]


def test_training_a_recurrent_net_runs_no_step_in_python(monkeypatch):
    forbid_python(monkeypatch)
    x = np.random.RandomState(1).randn(4, 6, 3).astype(F32)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None, 6, 3])
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.LSTMCell(5), fed, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs[:, -1] - 0.5))
        train = tf.train.AdamOptimizer(0.05).minimize(loss)
        session.run(tf.global_variables_initializer())
        losses = [session.run([loss, train], {fed: x})[0] for _ in range(20)]
        (plan,) = [p for key, p in session._plans.items() if train in key[0]]
        assert plan.first.cut is None
        assert all(x.name != "host" for x in plan.first.program.instructions)
    assert losses[-1] < 0.5 * losses[0]


def test_variable_that_gets_its_value_later():
    """A loop that Python ran while a variable had none is compiled once it has."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=2.0)
        y = tf.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, x * v), (0, 1.0))[1]
        with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
            session.run(y)
        session.run(v.initializer)
        assert session.run(y) == 8.0
        session.run(v.assign(3.0))
        assert session.run(y) == 27.0


@pytest.mark.parametrize("index", [-1, 3])
def test_index_out_of_an_array(index):
    with tf.Graph().as_default(), tf.Session() as session:
        array = tf.TensorArray(tf.float32, 3, element_shape=[])
        i = tf.placeholder(tf.int32, [])
        for got, verb in ((array.read(i), "access"), (array.write(i, 1.0).stack(), "modify")):
            words = f"Trying to {verb} element {index} in a list with 3 elements."
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(got, {i: index})


def test_rows_of_a_number_that_differs_from_step_to_step():
    """A sparse gradient needs no plan for each number of different rows."""
    table = np.random.RandomState(0).randn(10, 3).astype(F32)
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.int32, [6])
        v, dense = (tf.get_variable(name, initializer=table) for name in "vd")
        sparse_loss = tf.reduce_sum(tf.square(tf.gather(v, rows) - 1.0))
        dense_loss = tf.reduce_sum(tf.square(tf.matmul(tf.one_hot(rows, 10), dense) - 1.0))
        train = [
            tf.train.AdamOptimizer(0.1).minimize(loss, var_list=[x])
            for loss, x in ((sparse_loss, v), (dense_loss, dense))
        ]
        session.run(tf.global_variables_initializer())
        random = np.random.RandomState(1)
        for _ in range(12):
            chosen = random.randint(0, 1 + random.randint(10), 6)
            session.run(train, {rows: chosen})
            np.testing.assert_allclose(*session.run([v, dense]), rtol=1e-5)
        (plan,) = [p for key, p in session._plans.items() if key[0] == tuple(train)]
        assert plan.first.cut is None
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[1\] = 10 is not in"):
            session.run(train, {rows: [0, 10, 1, 1, 1, 1]})


def test_what_others_only_wait_for_is_not_computed():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2, 2])
        product = tf.matmul(x, x)
        with tf.control_dependencies([product]):
            y = tf.identity(x)
        np.testing.assert_array_equal(session.run(y, {x: np.eye(2)}), np.eye(2))
        ((_, plan),) = session._plans.items()
        assert product.op not in plan.order
        session.run([y, product], {x: np.eye(2)})
        assert any(
            product.op in plan.order for plan in [plan for _, plan in session._plans.items()]
        )


def test_effects_behind_what_is_not_computed_happen():
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.get_variable("v", initializer=1.0)
        change = v.assign_add(1.0)
        with tf.control_dependencies([change * 2.0]):
            y = tf.constant(5.0) + 0.0
        session.run(v.initializer)
        assert session.run(y) == 5.0
        assert session.run(v) == 2.0


def limits():
    return constant(np.array([-np.inf, np.inf], F32))


def test_what_iterations_have_in_common_is_done_once():
    """A product with what no iteration changes moves before the loop; one that varies stays."""
    program = Program()
    x, start = bound((4,), F32), constant(np.zeros(4, F32))
    total, fixed, varying = (arena((4,), F32) for _ in range(3))
    count, one = arena((1,), np.int32), constant(np.ones(1, np.int32))
    ends = constant(np.array([-(2**31), 2**31 - 1], np.int32))

    class Below:
        def __init__(self):
            self.values = [arena((1,), bool)]

        def emit(self, program):
            elementwise(
                program, "compare.less", (count, constant(np.array([3], np.int32))), *self.values
            )

    class Step:
        values = (varying, arena((1,), np.int32))

        def emit(self, program):
            elementwise(program, "arithmetic.multiply", (x, x), fixed, limits())
            elementwise(program, "arithmetic.add", (total, fixed), varying, limits())
            elementwise(program, "arithmetic.add", (count, one), self.values[1], ends)

    initial = [start, constant(np.zeros(1, np.int32))]
    control.loop(program, initial, [total, count], Below(), Step(), Below())
    out = bound((4,), F32)
    move(program, total, out)
    result = np.zeros(4, F32)
    program.close({x: np.array([1, 2, 3, 4], F32), out: result})
    program.run()
    np.testing.assert_array_equal(result, [3, 12, 27, 48])
    names = [instruction.name for instruction in program.instructions]
    heads = [i for i, name in enumerate(names) if name == "branch"]
    assert heads[0] < names.index("arithmetic.multiply") < heads[1]


def test_what_values_size_comes_after_the_rest():
    """It ends a stage; the loop behind it in the graph is still in the first one."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [4])
        places = tf.reduce_sum(tf.where(x > 0))
        y = tf.square(x)
        order = [op.type for op in compiling.needed([places, y], [x])]
        assert order.index("Square") < order.index("Where")
        v = tf.Variable([1.0, 2.0], use_resource=True)
        rows = tf.gather(v, tf.where(x > 0)[:, 0])  # reads what others may change
        y = tf.square(x)
        assert compiling.needed([rows, y], [x])[-1] is y.op


def _one_of_each(x, i):
    return x[:, i], x[i], x[:, :, i - 1], x[i, :, -i], x[i, 0 * i, i]


@pytest.mark.parametrize("i", [0, 1, -1])
def test_places_that_are_computed(i, monkeypatch):
    """One of some dimensions, from the end where it is negative, and its gradient."""
    forbid_python(monkeypatch)
    array = np.arange(24, dtype=F32).reshape(2, 3, 4)
    with tf.Graph().as_default(), tf.Session() as session:
        x, n = tf.placeholder(tf.float32, [2, 3, 4]), tf.placeholder(tf.int32, [])

        def body(k, total):
            parts = _one_of_each(x, n)
            return k + 1, total + tf.add_n([tf.reduce_sum(part * part) for part in parts])

        total = tf.while_loop(lambda k, total: k < 2, body, [0, 0.0])[1]
        parts = [*_one_of_each(x, n), total, tf.gradients(total, x)[0]]
        *values, total_value, dx = session.run(parts, {x: array, n: i})
    expected = np.zeros_like(array)
    for value, part, places in zip(
        values, _one_of_each(array, i), _one_of_each(expected, i), strict=True
    ):
        np.testing.assert_array_equal(value, part)
        places += 4 * part
    assert total_value == 2 * sum(float(np.sum(part * part)) for part in values)
    expected[i, 0, i] += 4 * array[i, 0, i]
    np.testing.assert_array_equal(dx, expected)


def test_a_place_that_is_not_there():
    """TensorFlow's words, with the index as it was."""
    with tf.Graph().as_default(), tf.Session() as session:
        i = tf.placeholder(tf.int32, [])
        y = tf.placeholder_with_default(np.zeros((2, 3), F32), [2, 3])[:, i]
        for index in (3, -4):
            words = f"slice index {index} of dimension 1 out of bounds."
            with pytest.raises(tf.errors.InvalidArgumentError, match=words):
                session.run(y, {i: index})
