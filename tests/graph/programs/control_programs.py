"""Programs with branches, loops and Python functions: what TensorFlow gives is recorded.

Each takes `tf` and gives what is fetched, or (fetches, feeds). ERRORS raise, when they are built or
when they are run.
"""

from __future__ import annotations

from collections import namedtuple

import numpy as np

Pair = namedtuple("Pair", "a b")
Single = namedtuple("Single", "a")


def single_results(tf):
    """A list, a tuple or a namedtuple of one tensor is that tensor."""
    p = tf.placeholder(tf.bool, [])
    one, two = (lambda: tf.constant(1)), (lambda: [tf.constant(2)])
    three, named = (lambda: (tf.constant(3),)), (lambda: Single(tf.constant(4)))
    pairs = [(one, two), (two, one), (one, three), (two, three), (named, named)]
    return [tf.cond(p, a, b) for a, b in pairs], {p: False}


def indexed_slices_of_a_branch(tf):
    p = tf.placeholder(tf.bool, [])
    x, rows = tf.constant([10]), tf.constant([0])
    result = tf.cond(
        p, lambda: tf.IndexedSlices(x + 1, rows), lambda: tf.IndexedSlices(x - 1, rows)
    )
    return [result.values, result.indices], {p: True}


def loop_after_a_fed_placeholder(tf):
    b = tf.placeholder(tf.bool)
    with tf.control_dependencies([b]):
        r = tf.while_loop(lambda x: x < 10, lambda x: x + 1, [tf.constant(0)])
    return r, {b: True}


def placeholder_within_a_loop(tf):
    b = tf.placeholder(tf.bool)

    def body(x):
        with tf.control_dependencies([b]):
            return x + 1

    return tf.while_loop(lambda x: x < 10, body, [tf.constant(0)]), {b: True}


def variable_of_a_loop_that_is_only_waited_for(tf):
    def body(n, r):
        with tf.control_dependencies([r]):
            return [n + 1, tf.constant(12)]

    return tf.while_loop(lambda n, r: n < 10, body, [tf.constant(0), tf.constant(0)])


def loop_without_gradient(tf):
    v = tf.constant(2.0)
    r = tf.while_loop(lambda v: v < 100.0, tf.square, [v], back_prop=False)
    return tf.gradients(r + v, v)


def shapes_as_tuples(tf):
    i, x = tf.constant(0), tf.constant([[1.0, 2.0]])
    body = lambda i, x: (i + 1, tf.concat([x, x], 0))  # noqa: E731
    return tf.while_loop(
        lambda i, _: i < 3, body, [i, x], [i.get_shape(), tf.TensorShape([None, 2])]
    )


def sparse_tensor_that_grows(tf):
    start = tf.SparseTensor([[0], [3]], [2.0, 4.0], [10])

    def body(i, x):
        more = tf.concat([x.indices, [[tf.cast(i, tf.int64) + 4]]], 0)
        return i + 1, tf.SparseTensor(more, tf.concat([x.values, [1.0]], 0), x.dense_shape)

    shapes = [tf.TensorShape([]), tf.TensorShape([None])]
    _, x = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), start], shapes)
    return [x.indices, x.values, x.dense_shape]


def tensor_beside_nothing(tf):
    i = tf.constant(0)
    return tf.while_loop(lambda i, _: i < 10, lambda i, _: [i + 1, []], [i, []])


def gradients_of_nested_maps(tf):
    v = tf.get_variable("v", initializer=3.0, use_resource=True)
    inner = lambda row: tf.map_fn(lambda n: n * tf.square(v), row)  # noqa: E731
    y = tf.map_fn(inner, tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    return tf.gradients(tf.reduce_mean(tf.square(y)), v)


def function_of_tensors(tf):
    def double_or_square(x):
        return x**2 if x > 1 else 2 * x

    x = tf.constant([0.5, 3.0])
    results = [tf.py_function(double_or_square, [x[i]], tf.float32) for i in (0, 1)]
    return [*results, *tf.gradients(results, x)]


def functions_of_tensors_in_a_row(tf):
    x, y = tf.constant(2.0), tf.constant(3.0)
    both = tf.py_function(lambda x, y: [x * y, x + y.numpy()], [x, y], [tf.float32, tf.float32])
    return [*both, *tf.gradients(both[0], [x, y])]


def decorated(tf):
    @tf.numpy_function(Tout=tf.int32)
    def plus(a, b):
        return np.add(a, b)

    return [plus(1, 2), tf.py_function(Tout=tf.int32)(lambda a, b: a - b)(5, 3)]


VALUES = [
    single_results,
    indexed_slices_of_a_branch,
    loop_after_a_fed_placeholder,
    placeholder_within_a_loop,
    variable_of_a_loop_that_is_only_waited_for,
    loop_without_gradient,
    shapes_as_tuples,
    sparse_tensor_that_grows,
    tensor_beside_nothing,
    gradients_of_nested_maps,
    function_of_tensors,
    functions_of_tensors_in_a_row,
    decorated,
]


def raising(tf, error):
    def fail():
        raise error

    return tf.py_func(fail, [], [])


def out_of_a_list(tf, *indices):
    array = tf.constant(np.arange(6.0).reshape(3, 2))
    return tf.cumsum(array, *indices)


ERRORS = {
    "index no tensor": lambda tf: tf.switch_case(1, {0: lambda: 1, 1: lambda: 2}),
    "key no int": lambda tf: tf.switch_case(
        tf.constant(1), [(tf.constant(i), lambda: 1) for i in range(2)]
    ),
    "types missing": lambda tf: tf.py_function(lambda a: a, [1]),
    "tensors missing": lambda tf: tf.py_function(lambda a: a, Tout=tf.int32),
    "tensors of a decorator": lambda tf: tf.py_function(inp=[], Tout=tf.int32),
    "no function": lambda tf: tf.py_function("x", [1], tf.int32),
    "axis": lambda tf: tf.cumsum(tf.placeholder_with_default([[1.0, 2.0]], None), -3),
    "no scalar axis": lambda tf: tf.cumsum(tf.placeholder_with_default([[1.0]], None), [0]),
    "value error": lambda tf: raising(tf, ValueError("blah")),
    "type error": lambda tf: raising(tf, TypeError("blah")),
    "stop": lambda tf: raising(tf, StopIteration("blah")),
    "memory": lambda tf: raising(tf, MemoryError("blah")),
    "not implemented": lambda tf: raising(tf, NotImplementedError("blah")),
    "another": lambda tf: raising(tf, KeyError("blah")),
    "record": lambda tf: tf.py_func(lambda: np.zeros(0, [("a", "f4")]), [], tf.float32),
    "object": lambda tf: tf.py_func(lambda: {"a": 1}, [], tf.int64),
    "fewer variables": lambda tf: tf.while_loop(
        lambda a, *_: a < 1, lambda a, b, c: [a, b], [tf.constant(0)] * 3
    ),
    "shape of a variable": lambda tf: tf.while_loop(
        lambda i, _: i < 1, lambda i, x: [i + 1, x], [tf.constant(0), tf.constant([2.0, 4.0])],
        [tf.TensorShape([]), tf.TensorShape([5])],
    ),
}  # fmt: skip


WORDS = {
    "index no tensor": "'branch_index' must be a Tensor, got ",
    "key no int": "key must be a Python `int`, got ",
    "types missing": "Missing required argument: 'Tout'",
    "tensors missing": "Missing argument `inp`",
    "tensors of a decorator": "Don't set the `inp` argument when using ",
    "no function": "Expected func to be callable. Received func=x of type <class 'str'>.",
    "axis": "ScanOp: Expected scan axis in the range [-2, 2), but got -",
    "no scalar axis": "ScanOp: axis must be a scalar, not [1]",
    "value error": "ValueError: blah",
    "type error": "TypeError: blah",
    "stop": "StopIteration: blah",
    "memory": "MemoryError: blah",
    "not implemented": "NotImplementedError: blah",
    "another": "KeyError: 'blah'",
    "record": "Unsupported numpy data type",
    "object": "Unsupported object type dict",
    "fewer variables": "The two structures don't have the same number of elements.",
    "shape of a variable": "is not compatible with the initial shape of the loop variable. It "
    "enters the loop with shape (2,), but the specified shape invariant is (5,).",
}
"""What both messages have of each error."""


def values_of(tf, program):
    """Arrays of what a program fetches, as lists."""
    with tf.Graph().as_default(), tf.Session() as session:
        fetches, feeds = program(tf), {}
        if isinstance(fetches, tuple) and isinstance(fetches[1], dict):
            fetches, feeds = fetches
        session.run(tf.global_variables_initializer())
        return [x.tolist() for x in leaves(session.run(fetches, feeds))]


def leaves(values):
    """The arrays in a nest."""
    if isinstance(values, (list, tuple)):
        return [leaf for item in values for leaf in leaves(item)]
    return [np.asarray(values)]


def error_of(tf, program):
    """Type of the error, and its message."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            session.run(program(tf))
        except Exception as error:  # which one is what is asked
            return type(error).__name__, str(getattr(error, "message", None) or error)
        return "none", ""


def outcomes(tf):
    """Values and errors; of a message, the line that says what is wrong."""
    errors = {name: error_of(tf, program) for name, program in ERRORS.items()}
    return {
        "values": {program.__name__: values_of(tf, program) for program in VALUES},
        "errors": {name: [kind, _gist(message)] for name, (kind, message) in errors.items()},
    }


def _gist(message: str) -> str:
    """The line of TensorFlow's message that says what is wrong; it may begin with where."""
    lines = [line.strip() for line in message.split("\n\t [[{{node")[0].splitlines()]
    if "execution error" not in lines[0]:
        return " ".join(line for line in lines if "number of elements" in line) or lines[0]
    known = ("Error: ", "Iteration: ", "ScanOp: ", "Unsupported ")
    return next(line for line in lines[2:] if any(word in line for word in known))
