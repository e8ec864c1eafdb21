"""Random numbers in loops, given `tf`: what TensorFlow draws is stored in draw_programs.json.

Iterations run one after another there, too: their operations share a stream.
"""

from __future__ import annotations

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def loop(tf, step, n, *variables):
    """`n` steps, one after another, of variables behind a counter."""
    return tf.while_loop(
        lambda i, *_: i < n,
        lambda i, *values: (i + 1, *step(i, *values)),
        (tf.constant(0), *variables),
        parallel_iterations=1,
    )[1:]


@program
def uniform_numbers(tf):
    """Numbers of a loop, and of an operation outside with the same seed."""
    start = tf.zeros([2, 3])
    inside = loop(tf, lambda i, x: (x * 10 + tf.random.uniform([2, 3], -1, 2, seed=4),), 5, start)
    return [*inside, tf.random.uniform([2, 3], seed=4)]


@program
def normal_numbers(tf):
    """Numbers of two operations that take turns."""

    def step(i, x, y):
        x = x * 0.5 + tf.random.normal([5], seed=1)
        return x, y - tf.random.normal([5], 3.0, 0.1, seed=2) * tf.reduce_sum(x)

    return loop(tf, step, 4, tf.zeros([5]), tf.ones([5]))


@program
def cut_off_and_whole_numbers(tf):
    """Normal numbers within two standard deviations, and whole ones of both kinds."""

    def step(i, x, y, z):
        x = x * 0.5 + tf.random.truncated_normal([3, 3], seed=1)
        y += tf.random.uniform([5], -3, 12, tf.int32, seed=2)
        return x, y, z + tf.random.uniform([3], 0, 2**40, tf.int64, seed=3)

    start = [tf.zeros([3, 3]), tf.zeros([5], tf.int32), tf.zeros([3], tf.int64)]
    return loop(tf, step, 4, *start)


@program
def dropout_in_branches(tf):
    """What is left of a vector, in those iterations where it is dropped at all."""

    def step(i, x):
        dropped = tf.cond(
            tf.equal(i % 2, 0), lambda: tf.nn.dropout(x, rate=0.25, seed=3), lambda: x + 1.0
        )
        return (dropped,)

    return loop(tf, step, 6, tf.ones([12]))


@program
def gradient_through_dropout(tf):
    """What flowed through the same elements that were not dropped."""
    x = tf.linspace(0.5, 2.0, 6)
    (y,) = loop(tf, lambda i, y: (tf.nn.dropout(y * y, rate=0.2, seed=8),), 3, x)
    return [y, *tf.gradients(y, x)]


@program
def loop_in_a_loop(tf):
    """A loop whose iterations each draw in a loop of their own."""

    def step(i, x):
        return loop(tf, lambda j, y: (y + tf.random.uniform([2], seed=6),), i + 1, x * 2.0)

    return loop(tf, step, 3, tf.zeros([2]))


@program
def other_types_and_shapes(tf):
    """Numbers that are drawn by Python: doubles, and as many as another value says."""

    def step(i, x, total):
        more = tf.random.uniform([i + 1], seed=9)
        return x + tf.random.uniform([2], seed=5, dtype=tf.float64), total + tf.reduce_sum(more)

    return loop(tf, step, 3, tf.zeros([2], tf.float64), tf.constant(0.0))


@program
def binomial_numbers(tf):
    """Numbers of successes, by counting and by rejection, and parameters of other shapes."""
    parts = [0.0, 0.01, 0.3, 0.5, 0.7, 0.99, 1.0]
    counts = [[0.0], [1.0], [20.0], [1000.0]]
    draw = tf.random.stateless_binomial
    return [
        draw([5, 4, 7], [3, 4], counts, parts),
        draw([2, 3], [1, 2], 50.0, tf.constant([0.2, 0.4, 0.6], tf.float64), tf.float64),
        draw([6], tf.constant([7, 8], tf.int64), 12, 0.25, tf.int64),
        draw([0, 7], [3, 4], 9.0, parts),
        draw(tf.placeholder_with_default([2, 7], [None]), [3, 4], 9.0, parts),
    ]


def values_of(tf, function):
    """What two runs of a program give."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(11)
        fetches = function(tf)
        return [[x.tolist() for x in session.run(list(fetches))] for _ in range(2)]


def outcomes(tf):
    """What each program draws, in two runs of a session."""
    return {function.__name__: values_of(tf, function) for function in PROGRAMS}
