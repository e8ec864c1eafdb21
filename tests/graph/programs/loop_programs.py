"""Programs of TF1 whose loops and branches change variables, given `tf`.

What TensorFlow gives in three runs of a session is stored in loop_programs.json.
"""

from __future__ import annotations

PROGRAMS = []
RUNS = 3


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def variable(tf, name, value, use_resource=True):
    """A variable whose memory a function may change."""
    return tf.get_variable(name, initializer=value, use_resource=use_resource)


def loop(tf, n, step, *values):
    """`n` steps, one after another: step(i, *values) gives the values of the next one."""
    return tf.while_loop(
        lambda i, *_: i < n,
        lambda i, *values: (i + 1, *step(i, *values)),
        (tf.constant(0), *values),
        parallel_iterations=1,
    )[1:]


def behind(tf, change, value):
    """`value()`, computed after a change."""
    with tf.control_dependencies([change]):
        return value()


@program
def counts(tf):
    """A variable counts iterations; its value behind the loop, and one read before it."""
    v = variable(tf, "v", 1.0)
    before = v.read_value()
    with tf.control_dependencies([before]):
        (x,) = loop(tf, 5, lambda i, x: (behind(tf, v.assign_add(2.0), lambda: x + 1.0),), 0.0)
    after = behind(tf, x, v.read_value)
    return [before, x, after, after - before]


@program
def counts_by_reference(tf):
    """The same with the memory of a variable, which its readers see change."""
    v = variable(tf, "v", 1.0, use_resource=False)

    def step(i, x):
        return (behind(tf, tf.assign_add(v, 2.0), lambda: x + 1.0),)

    (x,) = loop(tf, 5, step, 0.0)
    return [x, behind(tf, x, lambda: tf.identity(v))]


@program
def reads_around_writes(tf):
    """What an iteration reads before and after its write, handed on to the next."""
    v = variable(tf, "v", [1.0, 2.0])

    def step(i, a, b):
        old = v.read_value()
        with tf.control_dependencies([old]):
            new = behind(tf, v.assign(v * 2.0 - b), v.read_value)
        return old + a, new

    a, b = loop(tf, 4, step, tf.zeros([2]), tf.ones([2]))
    return [a, b, behind(tf, b, v.read_value)]


@program
def value_of_before_in_a_loop(tf):
    """A loop that writes a variable reads what was in it before the loop."""
    v = variable(tf, "v", [1.0, 3.0])
    old = v.read_value()

    def step(i, x):
        return (behind(tf, v.assign_add(old), lambda: x + old),)

    with tf.control_dependencies([old]):
        (x,) = loop(tf, 3, step, old)
    return [old, x, behind(tf, x, v.read_value)]


@program
def condition_on_a_variable(tf):
    """A loop that goes on until a variable it writes is large."""
    v = variable(tf, "v", 1.0)
    x = tf.while_loop(
        lambda x: v.read_value() < 50.0,
        lambda x: behind(tf, v.assign(v * 3.0), lambda: x + 1.0),
        [tf.constant(0.0)],
        parallel_iterations=1,
    )
    return [x, behind(tf, x, v.read_value)]


@program
def branches(tf):
    """One branch adds, the other starts anew; a value of before is read behind both."""
    v = variable(tf, "v", 1.0)
    old = v.read_value()
    with tf.control_dependencies([old]):
        now = tf.cond(old < 5.0, lambda: v.assign_add(3.0) * 1.0, lambda: v.assign(0.5) * 1.0)
    return [old, now, behind(tf, now, lambda: v.read_value() + old)]


@program
def branches_in_loops(tf):
    """Two variables, each written in every other iteration; a loop inside of a branch."""
    v, w = variable(tf, "v", 0.0), variable(tf, "w", [1.0, 1.0])

    def odd():
        (x,) = loop(tf, 2, lambda j, x: (behind(tf, w.assign(w * 2.0), lambda: x + 1.0),), 0.0)
        return x

    def step(i, x):
        chosen = tf.cond(tf.equal(i % 2, 1), odd, lambda: v.assign_add(1.0) * 10.0)
        return (x + chosen,)

    (x,) = loop(tf, 5, step, 0.0)
    return [x, *behind(tf, x, lambda: [v.read_value(), w.read_value()])]


@program
def cases(tf):
    """One of three functions by a number, which is out of range, too."""
    v = variable(tf, "v", 1.0)
    ways = [lambda: v + 1.0, lambda: v.assign(v * 2.0) * 1.0, lambda: v.assign_sub(1.0) * 3.0]
    results = []
    for i in (0, 1, 2, -1, 7):
        with tf.control_dependencies(results):
            results.append(tf.switch_case(tf.constant(i) + tf.cast(v * 0.0, tf.int32), ways))

    def step(i, x):
        return (x + tf.switch_case(i % 4, ways),)

    with tf.control_dependencies(results):
        (x,) = loop(tf, 8, step, 0.0)
    return [*results, x, behind(tf, x, v.read_value)]


@program
def training_in_a_loop(tf):
    """Steps of two optimizers by one run."""
    v, w = variable(tf, "v", [4.0, -2.0]), variable(tf, "w", 1.0)
    plain = tf.train.GradientDescentOptimizer(0.125)
    momentum = tf.train.MomentumOptimizer(0.25, 0.5)
    momentum._create_slots([w])

    def step(i, total):
        loss = tf.reduce_sum(tf.square(v)) + tf.square(w - 3.0)
        dv, dw = tf.gradients(loss, [v, w])
        changes = [plain.apply_gradients([(dv, v)]), momentum.apply_gradients([(dw, w)])]
        return (behind(tf, tf.group(*changes), lambda: total + loss),)

    (total,) = loop(tf, 4, step, 0.0)
    return [total, *behind(tf, total, lambda: [v.read_value(), w.read_value()])]


@program
def rows_in_a_loop(tf):
    """Rows of a table, each written in an iteration of its own, read in the next."""
    v = variable(tf, "v", [[1.0, 2.0]] * 4)

    def step(i, x):
        row = tf.gather(v, [i])
        change = tf.scatter_update(v, [i + 1], row * 2.0)
        return (behind(tf, change, lambda: x + tf.reduce_sum(v)),)

    (x,) = loop(tf, 3, step, 0.0)
    return [x, behind(tf, x, v.read_value)]


@program
def steps_without_instructions(tf):
    """Strings, a check, and numbers of a distribution, among what has instructions."""
    v = variable(tf, "v", 1.0)

    def step(i, x):
        with tf.control_dependencies([tf.assert_less(x, 1e6)]):
            y = tf.cast(tf.strings.length(tf.as_string(i + 99)), tf.float32) + x
            y += tf.cast(tf.random.categorical([[-50.0, 50.0]], 1)[0, 0], tf.float32)
        return (behind(tf, v.assign_add(y), lambda: y * 2.0),)

    (x,) = loop(tf, 3, step, 0.5)
    return [x, behind(tf, x, v.read_value)]


@program
def functions_of_python(tf):
    """Results of which only Python knows the shape."""
    v = variable(tf, "v", 1.0)

    def step(i, x):
        y = tf.py_func(lambda a: a + a, [x], tf.float32)
        y.set_shape([])
        return (behind(tf, v.assign_add(y), lambda: y + 1.0),)

    (x,) = loop(tf, 3, step, 0.5)
    return [x, behind(tf, x, v.read_value)]


@program
def growing(tf):
    """A sequence that each iteration makes longer by what it has so far."""

    def step(i, x):
        following = tf.reduce_sum(x[-2:], keepdims=True) % 97.0
        return i + 1, tf.concat([x, following], 0)

    shapes = tf.TensorShape([]), tf.TensorShape([None])
    start = (tf.constant(0), tf.constant([1.0, 1.0]))
    return tf.while_loop(lambda i, _: i < 40, step, start, shapes)


def check_that_fails(tf):
    """A check in the third iteration: what the iterations before wrote stays."""
    v = variable(tf, "v", 0)

    def step(i, x):
        with tf.control_dependencies([tf.assert_less(i, 2, message="too far")]):
            return (behind(tf, v.assign_add(i + 1), lambda: x + 1),)

    (x,) = loop(tf, 5, step, 0)
    return [x], [v.read_value()]


def no_value_yet(tf):
    """A variable without a value, written where a branch is taken, is read behind it."""
    v, flag = tf.get_variable("v", [], use_resource=True), tf.placeholder_with_default(False, [])
    done = tf.cond(flag, lambda: v.assign(2.0) * 1.0, lambda: tf.constant(0.0))
    return [done, behind(tf, done, v.read_value)], [flag]


def values_of(tf, function):
    """What the runs of a program give."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches = function(tf)
        session.run(tf.global_variables_initializer())
        return [[x.tolist() for x in session.run(fetches)] for _ in range(RUNS)]


def outcome(tf, session, fetches, feeds=None):
    """The values of fetches, or the error's type."""
    try:
        return [x.tolist() for x in session.run(fetches, feeds)]
    except tf.errors.OpError as error:
        return type(error).__name__


def failures(tf):
    """Errors in loops and branches, and what holds after them."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, state = check_that_fails(tf)
        session.run(tf.global_variables_initializer())
        rows = [outcome(tf, session, x) for _ in range(2) for x in (fetches, state)]
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, (flag,) = no_value_yet(tf)
        values = (False, True, False)
        return rows + [outcome(tf, session, fetches, {flag: value}) for value in values]


def outcomes(tf):
    """What each program gives."""
    rows = {function.__name__: values_of(tf, function) for function in PROGRAMS}
    return {**rows, "failures": failures(tf)}
