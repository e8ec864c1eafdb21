"""Branches, loops, TensorArrays, functions over slices: values, gradients, errors.

Expected values are those of the same computation written out without control flow.
"""

import numpy as np
import pytest

import flatlite.compat.v1 as tf

F32 = np.float32


def variables():
    w = tf.get_variable("w", initializer=[1.0, 2.0, 3.0])
    return w, tf.get_variable("r", initializer=[0.5, 1.5, 2.5], use_resource=True)


def test_cond_and_its_gradients(session):
    x = tf.placeholder(tf.float32, [3])
    w, r = variables()
    p = tf.reduce_sum(x) > 0
    y = tf.cond(p, lambda: tf.sin(x * w) * r, lambda: tf.exp(x - w))
    written_out = {True: tf.sin(x * w) * r, False: tf.exp(x - w)}
    xs = [x, w, r]
    session.run(tf.global_variables_initializer())
    got = [y, *tf.gradients(y, xs)]
    for value in ([1, 1, 2], [-1, -1, -2]):
        out = written_out[sum(value) > 0]
        want = [out, *tf.gradients(out, xs, unconnected_gradients="zero")]
        for a, b in zip(*session.run([got, want], {x: value}), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_cond_structures(session):
    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: {"a": [1.0, (2,)]}, lambda: {"a": [3.0, (4,)]})
    assert session.run(y, {p: True}) == {"a": [1.0, (2,)]}
    assert session.run(y, {p: False}) == {"a": [3.0, (4,)]}
    assert session.run(tf.cond(p, lambda: [5], lambda: [6]), {p: True}) == 5
    assert session.run(tf.cond(p, lambda: [5], lambda: [6], strict=True), {p: True}) == [5]
    assert y["a"][0].name == "cond/Merge:0"
    shape = tf.cond(p, lambda: tf.zeros([2, 3]), lambda: tf.zeros([4, 3])).shape
    assert shape == (None, 3)


@pytest.mark.parametrize("use_resource", [False, True])
def test_cond_changes_variables(session, use_resource):
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=1.0, use_resource=use_resource)
    before = tf.identity(v)
    with tf.control_dependencies([before]):
        change = tf.cond(x > 0, lambda: tf.group(v.assign_add(x)), lambda: tf.group(v.assign(0.0)))
    session.run(tf.global_variables_initializer())
    assert session.run([before, change], {x: 3.0}) == [1 if use_resource else 4, True]
    assert session.run(v) == 4
    session.run(change, {x: -1.0})
    assert session.run(v) == 0


def test_cond_makes_variables_outside(session):
    p = tf.placeholder(tf.bool, [])

    def make():
        with tf.variable_scope("inner"):
            return tf.get_variable("v", [2], initializer=tf.ones_initializer()) * 2.0

    y = tf.cond(p, lambda: tf.cond(p, make, lambda: tf.zeros([2])), lambda: tf.zeros([2]))
    assert [v.name for v in tf.trainable_variables()] == ["inner/v:0"]
    session.run(tf.global_variables_initializer())
    assert session.run(y, {p: True}).tolist() == [2, 2]
    gradient = tf.gradients(y, tf.trainable_variables())[0]
    assert session.run(gradient, {p: True}).tolist() == [2, 2]
    assert session.run(gradient, {p: False}).tolist() == [0, 0]


def test_what_a_branch_draws_is_what_its_gradient_sees(session):
    x, p = tf.placeholder(tf.float32, [50]), tf.placeholder(tf.bool, [])
    y = tf.cond(p, lambda: tf.nn.dropout(x, rate=0.5), lambda: x)
    value, gradient = session.run([y, tf.gradients(y, x)[0]], {x: np.ones(50), p: True})
    assert set(value.tolist()) == {0, 2}
    assert value.tolist() == gradient.tolist()


def test_case(session):
    x = tf.placeholder(tf.int32, [])
    y = tf.case([(x > 5, lambda: 1), (x > 3, lambda: 2)], default=lambda: 3)
    assert [session.run(y, {x: n}) for n in (6, 4, 0)] == [1, 2, 3]
    y = tf.case([(x > 5, lambda: 1), (x > 3, lambda: 2)], exclusive=True)
    assert session.run(y, {x: 4}) == 2
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"more than 1 conditions \(.*:0, .*:0\) evaluated as True:\] \[1 1",
    ):
        session.run(y, {x: 6})
    with pytest.raises(
        tf.errors.InvalidArgumentError, match=r"None of conditions evaluated as True:\] \[0 0"
    ):
        session.run(y, {x: 0})
    y = tf.switch_case(x, [lambda: 10, lambda: 11], default=lambda: 12)
    assert [session.run(y, {x: n}) for n in (0, 1, 2, -1)] == [10, 11, 12, 12]


def test_case_gradient(session):
    x, i = tf.placeholder(tf.float32, []), tf.placeholder(tf.int32, [])
    y = tf.switch_case(i, [lambda: x * x, lambda: tf.sin(x), lambda: 3.0 * x])
    gradient = tf.gradients(y, x)[0]
    got = [session.run(gradient, {x: 2.0, i: n}) for n in range(3)]
    np.testing.assert_allclose(got, [4, np.cos(2.0), 3], rtol=1e-6)


def steps(x, w, r, n):
    for _ in range(n):
        x = tf.sin(x * w) + r
    return x


def test_while_and_its_gradients(session):
    x, n = tf.placeholder(tf.float32, [3]), tf.placeholder(tf.int32, [])
    w, r = variables()
    xs = [x, w, r]
    _, y = tf.while_loop(
        lambda i, y: i < n, lambda i, y: (i + 1, tf.sin(y * w) + r), [tf.constant(0), x]
    )
    assert y.name == "while/Exit_1:0"
    first = tf.gradients(y, xs)
    got = [y, *first, *tf.gradients(first[0], [x, w])]
    session.run(tf.global_variables_initializer())
    for count in (1, 3):
        out = steps(x, w, r, count)
        want = tf.gradients(out, xs)
        want = [out, *want, *tf.gradients(want[0], [x, w])]
        for a, b in zip(*session.run([got, want], {x: [1, 1, 2], n: count}), strict=True):
            np.testing.assert_allclose(a, b, rtol=2e-5, atol=1e-6)
    zero = session.run(got[:4], {x: [1, 1, 2], n: 0})
    assert [z.tolist() for z in zero] == [[1, 1, 2], [1, 1, 1], [0, 0, 0], [0, 0, 0]]


def test_a_cond_in_a_while_in_a_while(session):
    x = tf.placeholder(tf.float32, [])

    def inner(i, y):
        return i + 1, tf.cond(y > 3.0, lambda: y / 2.0, lambda: y * y + x)

    def outer(i, y):
        return i + 1, tf.while_loop(lambda j, _: j < 2, inner, [0, y])[1]

    _, y = tf.while_loop(lambda i, _: i < 2, outer, [0, x])

    def plain(value, offset):
        for _ in range(4):
            value = value / 2 if value > 3 else value * value + offset
        return value

    for start in (0.5, 1.5, 4.0):
        value, gradient = session.run([y, tf.gradients(y, x)[0]], {x: start})
        np.testing.assert_allclose(value, plain(start, start), rtol=1e-6)
        step = 1e-6
        want = (plain(start + step, start + step) - plain(start - step, start - step)) / (2 * step)
        np.testing.assert_allclose(gradient, want, rtol=1e-4)


def test_while_shapes(session):
    x = tf.placeholder(tf.float32, [2])
    with pytest.raises(ValueError, match=r"enters the loop with shape \(2,\), but has shape"):
        tf.while_loop(lambda y: True, lambda y: tf.concat([y, y], 0), [x])
    _, y = tf.while_loop(
        lambda i, y: i < 3,
        lambda i, y: (i + 1, tf.concat([y, [1.0]], 0)),
        [tf.constant(0), x],
        shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])],
    )
    assert y.shape == (None,)
    assert session.run(y, {x: [5, 6]}).tolist() == [5, 6, 1, 1, 1]
    gradient = tf.gradients(tf.reduce_sum(y * y), x)[0]
    assert session.run(gradient, {x: [5, 6]}).tolist() == [10, 12]
    assert (
        session.run(tf.while_loop(lambda i: i >= 0, lambda i: i + 1, [0], maximum_iterations=7))
        == 7
    )


def test_while_structures(session):
    loop = {"a": tf.constant(1), "b": (tf.constant(2.0), [tf.constant(3.0)])}
    result = tf.while_loop(
        lambda v: v["a"] < 4,
        lambda v: {"a": v["a"] + 1, "b": (v["b"][0] * 2.0, [v["b"][1][0] + 1.0])},
        [loop],
    )
    assert session.run(result) == {"a": 4, "b": (16, [6])}


def test_errors():
    with tf.Graph().as_default():
        x = tf.constant([1.0])
        with pytest.raises(TypeError, match="'pred' must not be a Python bool"):
            tf.cond(True, lambda: x, lambda: x)
        with pytest.raises(TypeError, match="'false_fn' must be callable"):
            tf.cond(tf.constant(True), lambda: x, x)
        with pytest.raises(ValueError, match="'true_fn' must have a return value"):
            tf.cond(tf.constant(True), lambda: None, lambda: x)
        with pytest.raises(TypeError, match="'true_fn' argument required"):
            tf.cond(tf.constant(True))
        with pytest.raises(ValueError, match="must have the same type"):
            tf.cond(tf.constant(True), lambda: 1, lambda: 1.0)
        with pytest.raises(ValueError, match=r"^The two structures don't have the same nested"):
            tf.cond(tf.constant(True), lambda: (x, x), lambda: x)
        with pytest.raises(TypeError, match="'cond' must be callable"):
            tf.while_loop(1, lambda i: i, [0])
        with pytest.raises(ValueError, match="'loop_vars' must be provided"):
            tf.while_loop(lambda: True, lambda: 0, [])
        with pytest.raises(TypeError, match="has type float32 after 1 iteration"):
            tf.while_loop(lambda i: i < 3, lambda i: tf.cast(i, tf.float32), [0])
        with pytest.raises(ValueError, match="same nested structure"):
            tf.while_loop(lambda i, j: i < 3, lambda i, j: i, [0, 1])
        other = tf.Graph()
        with other.as_default():
            y = tf.constant([1.0])
        with pytest.raises(ValueError, match="must be from the same graph"):
            tf.cond(tf.constant(True), lambda: x + y, lambda: x)


def test_tensor_array(session):
    x = tf.placeholder(tf.float32, [3, 2])
    array = tf.TensorArray(tf.float32, 3).unstack(x)
    array = array.write(1, array.read(0) * 2.0)
    results = [array.stack(), array.concat(), array.gather([2, 1]), array.size()]
    gradient = tf.gradients(tf.reduce_sum(array.stack() ** 2.0), x)[0]
    value = np.arange(1, 7, dtype=F32).reshape(3, 2)
    stacked, joined, gathered, size, slope = session.run([*results, gradient], {x: value})
    want = value.copy()
    want[1] = value[0] * 2
    assert stacked.tolist() == want.tolist()
    assert joined.tolist() == want.ravel().tolist()
    assert gathered.tolist() == want[[2, 1]].tolist()
    assert size == 3
    assert slope.tolist() == [[10, 20], [0, 0], [10, 12]]
    assert array.stack().shape == (3, 2)
    grown = tf.TensorArray(tf.int32, size=0, dynamic_size=True).write(2, 5).write(0, 7)
    assert session.run(grown.stack()).tolist() == [7, 0, 5]
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split([1.0, 2.0, 3.0], [1, 2])
    assert session.run(parts.read(1)).tolist() == [2, 3]
    with pytest.raises(ValueError, match="TensorArray dtype is float32 but Op is trying to write"):
        array.write(0, tf.constant([1, 2]))
    with pytest.raises(ValueError, match="Inconsistent shapes"):
        array.write(0, [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match="`size` must be provided"):
        tf.TensorArray(tf.float32)


def test_functions_over_slices(session):
    x = tf.placeholder(tf.float32, [None, 3])
    w, _ = variables()
    value = np.arange(6, dtype=F32).reshape(2, 3)
    session.run(tf.global_variables_initializer())
    mapped = tf.map_fn(lambda v: v * w, x)
    pair = tf.map_fn(lambda v: (v[0] + v[1], tf.reduce_sum(v[0])), (x, x), dtype=(tf.float32,) * 2)
    scanned = tf.scan(lambda a, v: a * 0.5 + v * w, x)
    reverse = tf.scan(lambda a, v: a + tf.reduce_sum(v), x, initializer=1.0, reverse=True)
    left, right = tf.foldl(lambda a, v: a - v, x), tf.foldr(lambda a, v: a - 2.0 * v, x)
    got = session.run([mapped, pair, scanned, reverse, left, right], {x: value})
    weights = np.array([1, 2, 3], F32)
    want = [value * weights, (value * 2, value.sum(1)), None, [16, 13], value[0] - value[1], None]
    want[2] = np.stack([value[0], value[0] * 0.5 + value[1] * weights])
    want[5] = value[1] - 2 * value[0]
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(
            np.concatenate([np.ravel(t) for t in a]), np.concatenate([np.ravel(t) for t in b])
        )
    slopes = session.run(tf.gradients(scanned, [x, w]), {x: value})
    assert slopes[0].tolist() == [[1.5, 1.5, 1.5], [1, 2, 3]]
    assert slopes[1].tolist() == [3, 4, 5]
    assert mapped.shape == (None, 3)
    with pytest.raises(ValueError, match="1\\+ dimensional"):
        tf.map_fn(lambda v: v, 1.0)
    with pytest.raises(TypeError, match="not callable"):
        tf.scan(None, x)


def test_py_func(session):
    calls = []

    def double(a):
        calls.append(a.shape)
        return a * 2, np.int64(a.size), "text"

    results = tf.py_func(double, [tf.constant([1.0, 2.0])], [tf.float32, tf.int64, tf.string])
    a, n, text = session.run(results)
    assert (a.tolist(), n, text) == ([2, 4], 2, b"text")
    assert calls == [(2,)]
    wrong = tf.py_func(lambda: np.float64(1), [], tf.float32)
    with pytest.raises(
        tf.errors.InvalidArgumentError,
        match=r"0-th value returned by pyfunc_\d+ is double, but expects float",
    ):
        session.run(wrong)
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as other:
        tf.import_graph_def(definition, name="")
        with pytest.raises(tf.errors.UnknownError, match="callback pyfunc_0 is not found"):
            other.run(graph.get_tensor_by_name("PyFunc:0"))


def test_control_flow_is_written_and_read(session):
    x, n = tf.placeholder(tf.float32, [2], "x"), tf.placeholder(tf.int32, [], "n")
    _, y = tf.while_loop(lambda i, y: i < n, lambda i, y: (i + 1, y * 2.0), [tf.constant(0), x])
    tf.cond(n > 2, lambda: y + 1.0, lambda: y, name="result")
    definition = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as other:
        tf.import_graph_def(definition, name="")
        feeds = {"x:0": [1, 2], "n:0": 3}
        assert other.run("result/Merge:0", feeds).tolist() == [9, 17]
        y, x = graph.get_tensor_by_name("result/Merge:0"), graph.get_tensor_by_name("x:0")
        assert other.run(tf.gradients(y, x)[0], feeds).tolist() == [8, 8]


def test_training_in_a_loop(session):
    """A gradient step inside of a loop: gradients are taken of what the body makes."""
    w = tf.get_variable("w", initializer=[3.0, -2.0])

    def step(i, v):
        return i + 1, v - 0.1 * tf.gradients(tf.reduce_sum(v * v), v)[0]

    _, result = tf.while_loop(lambda i, _: i < 10, step, [tf.constant(0), tf.identity(w)])
    session.run(tf.global_variables_initializer())
    np.testing.assert_allclose(session.run(result), np.array([3, -2]) * 0.8**10, rtol=1e-5)


def test_variables_of_another_shape():
    """What a function assigns is seen behind it, what was read before is not; as in TensorFlow."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.bool, [])
        v = tf.Variable(np.zeros(1, np.float32), use_resource=True, shape=tf.TensorShape([None]))
        before = v.read_value()

        def grow():
            with tf.control_dependencies([v.assign(tf.concat([v.read_value(), [5.0]], 0))]):
                return tf.constant(1)

        with tf.control_dependencies([before]):
            call = tf.cond(x, grow, lambda: tf.constant(0))
        with tf.control_dependencies([call]):
            after = v.read_value()
        with tf.control_dependencies([after]):
            last = v.assign(after * 2)
        session.run(tf.global_variables_initializer())
        value = [0.0]
        for flag in (True, True, False, True):
            results = session.run([before, after, last], {x: flag})
            grown = value + [5.0] * flag
            expected = [value, grown, [2 * a for a in grown]]
            assert [a.tolist() for a in results] == expected
            value = expected[-1]

        def step(i):
            with tf.control_dependencies([v.assign(tf.concat([v.read_value(), [1.0]], 0))]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 3, step, [0])
        with tf.control_dependencies([loop]):
            assert session.run(v.read_value()).tolist() == [*value, 1.0, 1.0, 1.0]


def test_reference_variables_of_another_shape():
    """Only an assignment that validates refuses another shape than the variable has by then."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(tf.zeros([2]), use_resource=False)
        x = tf.placeholder(tf.float32, [None])
        free, checked = tf.assign(v, x, validate_shape=False), tf.assign(v, x)
        session.run(tf.global_variables_initializer())
        assert session.run(free, {x: [1, 2, 3]}).tolist() == [1, 2, 3]
        assert session.run(v).tolist() == [1, 2, 3]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"lhs shape= \[3\] rhs shape= \["):
            session.run(checked, {x: [4, 5]})
        assert session.run(checked, {x: [4, 5, 6]}).tolist() == [4, 5, 6]
