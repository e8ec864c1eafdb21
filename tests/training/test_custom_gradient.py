"""Functions with gradients of their own, second derivatives, and the check of gradients."""

import numpy as np
import pytest

import flatlite.compat.v1 as tf


def hundredfold(x):
    return 2.0 * x, lambda dy: 100.0 * dy


def test_gradient_is_that_of_the_function(session):
    x = tf.constant([1.0, 2.0])
    y = tf.custom_gradient(hundredfold)(x)
    values = session.run([y, *tf.gradients(y * y, x)])
    np.testing.assert_array_equal(values, [[2, 4], [400, 800]])


def test_several_arguments_and_results(session):
    @tf.custom_gradient
    def swapped(pair):
        return {"a": pair[1], "b": pair[0]}, lambda da, db: [da * 3.0, db * 5.0]

    x, y = tf.constant(1.0), tf.constant(2.0)
    result = swapped((x, y))
    assert session.run(result) == {"a": 2, "b": 1}
    assert session.run(tf.gradients([result["a"], 7.0 * result["b"]], [x, y])) == [3, 35]
    assert session.run(tf.gradients(result["a"], [x, y])) == [3, 0]


def test_second_derivative_is_that_of_the_gradient_function(session):
    @tf.custom_gradient
    def cube(x):
        return x**3, lambda dy: dy * 3.0 * x**2

    x = tf.constant(2.0)
    (first,) = tf.gradients(cube(x), x)
    assert session.run([first, *tf.gradients(first, x)]) == [12, 12]


def test_variables(session):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
    unread = tf.get_variable("unread", initializer=1.0, use_resource=True)
    seen = []

    @tf.custom_gradient
    def scaled(x):
        def grad(dy, variables=None):
            seen.extend(variables)
            return dy * 100.0, [dy * 7.0]

        return x * w, grad

    x = tf.constant([3.0, 4.0])
    derivatives = tf.gradients(scaled(x), [x, w, unread])
    session.run(tf.global_variables_initializer())
    assert derivatives.pop() is None
    np.testing.assert_array_equal(session.run(derivatives), [[100, 100], [7, 7]])
    assert seen == [w]


def test_inside_of_branches_and_loops(session):
    x = tf.placeholder(tf.float32, [None])
    f = tf.custom_gradient(hundredfold)
    y = tf.cond(x[0] > 0.0, lambda: f(x), lambda: x)
    (gradient,) = tf.gradients(y, x)
    assert session.run(gradient, {x: [1, 2]}).tolist() == [100, 100]
    assert session.run(gradient, {x: [-1, 2]}).tolist() == [1, 1]
    total = tf.foldl(lambda a, b: f(a) + b, x, initializer=0.0)
    (gradient,) = tf.gradients(total, x)
    assert session.run(gradient, {x: [5, 6, 7]}).tolist() == [10_000, 100, 1]


def test_recompute_grad(session):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
    x = tf.constant([0.5, 1.5])
    runs = []

    def f(a, b):
        runs.append(a)
        return tf.sin(a) * w + b

    y = tf.recompute_grad(f)(x, 2.0 * x)
    derivatives = tf.gradients(y, [x, w])
    expected = tf.gradients(f(x, 2.0 * x), [x, w])
    session.run(w.initializer)
    np.testing.assert_allclose(*session.run([derivatives, expected]), rtol=1e-6)
    assert len(runs) == 3


def test_grad_pass_through(session):
    x = tf.constant([0.5, -1.5])
    y = tf.grad_pass_through(tf.sign)(x)
    values = session.run([y, *tf.gradients(3.0 * y, x)])
    np.testing.assert_array_equal(values, [[1, -1], [3, 3]])


def test_errors(session):
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="keywords arguments only when eager"):
        tf.custom_gradient(hundredfold)(x=x)
    with pytest.raises(ValueError, match="expected to return 1 gradients, but returned 2"):
        tf.gradients(tf.custom_gradient(lambda x: (x, lambda dy: [dy, dy]))(x), x)
    w = tf.get_variable("w", initializer=1.0, use_resource=True)
    with pytest.raises(TypeError, match="grad_fn must accept keyword argument 'variables'"):
        tf.custom_gradient(lambda x: (x * w, lambda dy: dy))(x)

    def with_reference(x):
        return x * tf.get_variable("r", initializer=1.0, use_resource=False), lambda dy: dy

    with pytest.raises(TypeError, match=r"must be `ResourceVariable`s.*'r:0'"):
        tf.custom_gradient(with_reference)(x)

    @tf.custom_gradient
    def forgetful(x):
        return x * w, lambda dy, variables: (dy, [])

    with pytest.raises(ValueError, match="Must return gradient for each variable"):
        tf.gradients(forgetful(x), w)


def test_override_map(session):
    tf.RegisterGradient("Threefold")(lambda op, dy: [3.0 * dy, None])
    x = tf.constant(2.0)
    with tf.get_default_graph().gradient_override_map({"Mul": "Threefold", "Sub": "Other"}):
        y = tf.multiply(x, 5.0)
        with tf.get_default_graph().gradient_override_map({"Mul": "Mul"}):
            z = tf.multiply(x, 5.0)
    assert session.run([*tf.gradients(y, x), *tf.gradients(z, x)]) == [3, 5]
    assert session.run(tf.gradients(tf.multiply(x, 5.0), x)) == [5]
    node = next(n for n in session.graph.as_graph_def().node if n.name == y.op.name)
    assert node.attr["_gradient_op_type"].s == b"Threefold"
    for wrong in ([("a", "b")], {"a": 1}, {1: "a"}):
        with (
            pytest.raises(TypeError, match="op_type_map must be a dictionary"),
            tf.get_default_graph().gradient_override_map(wrong),
        ):
            pass


def test_gradients_within_a_function_of_what_is_outside(session):
    x = tf.constant([1.0, 2.0, 3.0])
    w = tf.get_variable("w", initializer=2.0)
    y = w * x**2

    def inner():
        return tf.gradients(3.0 * y, x)[0], tf.gradients(3.0 * y, w)[0]

    actual = tf.cond(x[0] > 0.0, inner, lambda: (x, tf.constant(0.0)))
    session.run(w.initializer)
    of_x, of_w = session.run(actual)
    assert (of_x.tolist(), of_w) == ([12, 24, 36], 42)


def test_hessians_of_unknown_sizes(session):
    x = tf.placeholder(tf.float32, [None])
    (derivatives,) = tf.hessians(x[0] ** 2 * x[1], x)
    assert derivatives.shape == (None, None)
    assert session.run(derivatives, {x: [2, 3]}).tolist() == [[6, 4], [4, 0]]
    with pytest.raises(ValueError, match=r"^None values not supported\."):  # as in TensorFlow
        tf.hessians(2.0 * x, x)
    with pytest.raises(ValueError, match=r"^Tried to convert .* No y depends on"):
        tf.hessians(tf.constant(1.0), x)


def test_aggregation_methods(session):
    x = tf.constant([1.0, 2.0])
    y = x * 2.0 + x * 3.0 + tf.gather(x, [1, 1])
    kinds = {}
    for method in (
        tf.AggregationMethod.ADD_N,
        tf.AggregationMethod.EXPERIMENTAL_TREE,
        tf.AggregationMethod.EXPERIMENTAL_ACCUMULATE_N,
    ):
        with tf.name_scope(f"method{method}"):
            (gradient,) = tf.gradients(y, x, aggregation_method=method)
        assert session.run(gradient).tolist() == [5, 7]
        ops = session.graph.get_operations()
        kinds[method] = sum(o.type == "AddN" and f"method{method}" in o.name for o in ops)
    assert kinds == {0: 1, 1: 2, 2: 2}
    with pytest.raises(ValueError, match="Invalid `aggregation_method` specified 7"):
        tf.gradients(y, x, aggregation_method=7)
    with pytest.raises(ValueError, match="Unknown value for unconnected_gradients: 'some'"):
        tf.gradients(y, x, unconnected_gradients="some")


def test_compute_gradient(session):
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    rows = tf.gather(x, [1])
    theory, differences = tf.test.compute_gradient(x, [2, 2], rows, [1, 2])
    assert theory.tolist() == [[0, 0], [0, 0], [1, 0], [0, 1]]
    np.testing.assert_allclose(differences, theory, atol=1e-3)
    z = tf.constant([1 + 2j, 3j], tf.complex64)
    assert tf.test.compute_gradient_error(z, [2], z * z, [2]) < 1e-3
    pair = [x, tf.constant([[1.0], [2.0]])]
    assert tf.test.compute_gradient_error(pair, [[2, 2], [2, 1]], pair[0] @ pair[1], [2, 1]) < 1e-3
    wrong = tf.custom_gradient(hundredfold)(x)
    assert tf.test.compute_gradient_error(x, [2, 2], wrong, [2, 2]) == pytest.approx(98, abs=0.1)
    empty = tf.constant(np.zeros((0, 2), "f4"))
    assert tf.test.compute_gradient_error(empty, [0, 2], empty * 2.0, [0, 2]) == 0
    with pytest.raises(ValueError, match=r"x_init_value must have shape \[2, 2\], got \[2\]"):
        tf.test.compute_gradient(x, [2, 2], rows, [1, 2], np.zeros(2))
    with pytest.raises(ValueError, match="Don't support type int32 for x"):
        tf.test.compute_gradient(tf.constant(1), [], x, [2, 2])
    with pytest.raises(ValueError, match="does not depend on"):
        tf.test.compute_gradient(x, [2, 2], pair[1], [2, 1])


def test_slices_become_tensors(session):
    table = tf.constant([[1.0], [2.0], [3.0]])
    (slices,) = tf.gradients(tf.gather(table, [2, 2]), table)
    assert session.run(tf.convert_to_tensor(slices)).tolist() == [[0], [0], [2]]
    assert session.run(slices.values * 2.0 + 1.0).tolist() == [[3], [3]]
    with pytest.raises(ValueError, match="dtype int32 for IndexedSlices with dtype float32"):
        tf.convert_to_tensor(slices, tf.int32)
