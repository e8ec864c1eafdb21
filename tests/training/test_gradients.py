"""`gradients`: TensorFlow's recorded answers, its arguments, its errors."""

import numpy as np
import pytest
from recorded import load, rows

import flatlite.compat.v1 as tf
from flatlite.graph.core.composite.indexed_slices import dense

ROWS = [row for row in rows() if row["kind"] == "tf1_grad"]


def leaves(value, path=""):
    """The tensors of a nest with the paths they are recorded under."""
    if isinstance(value, list | tuple):
        return [leaf for i, item in enumerate(value) for leaf in leaves(item, f"{path}/{i}")]
    return [(path.removeprefix("/") or "0", value)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["id"])
def test_recorded(row, record_property):
    record_property("corpus", "tf1_grad")
    key = row["id"].rsplit("/", 1)[1]
    recorded, feeds = load(row["files"]["data"]), load(row["files"]["inputs"])
    with tf.Graph().as_default(), tf.Session() as session:
        inputs = {name: tf.constant(feeds[name]) for name in row["inputs"]}
        actual = leaves(eval(row["expr"], {"tf": tf, "np": np, **inputs}))
        ys = [tensor for _, tensor in actual if tensor.dtype.kind in "fc"]
        grad_ys = [tf.constant(recorded[f"{key}:gy:{i}"]) for i in range(len(ys))]
        names = [name for name, _ in row["grads"]]
        gradients = tf.gradients(ys, [inputs[name] for name in names], grad_ys)
        results = session.run([[t for _, t in actual], [dense(g) for g in gradients]])
    expected = [recorded[f"{key}:out:{path}"] for path, _ in actual]
    expected += [recorded[f"{key}:grad:{name}"] for name in names]
    for got, want in zip([*results[0], *results[1]], expected, strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(got, want, **row["tolerance"]["tf"])


def test_sum_of_all_paths(session):
    x = tf.constant([1.0, 2.0, 3.0])
    (gradient,) = tf.gradients([x * x, 3.0 * x], x)
    assert session.run(gradient).tolist() == [5, 7, 9]
    assert gradient.op.name.startswith("gradients/")


def test_of_an_intermediate_tensor(session):
    x = tf.constant(2.0)
    y = x * x
    assert session.run(tf.gradients(y * y, [y, x])) == [8, 32]


def test_grad_ys(session):
    x = tf.constant([1.0, 2.0])
    assert session.run(tf.gradients(x * x, x, grad_ys=[[1.0, 10.0]]))[0].tolist() == [2, 40]
    with pytest.raises(ValueError, match="Passed 1 grad_ys for 2 ys"):
        tf.gradients([x, x], x, grad_ys=[x])
    with pytest.raises(TypeError, match="Gradient type float64 does not match type float32"):
        tf.gradients(x, x, grad_ys=tf.constant([1.0, 2.0], tf.float64))


def test_stop_gradients(session):
    x = tf.constant(3.0)
    y = x * x
    assert session.run(tf.gradients(x * y, [x], stop_gradients=[y])) == [9]
    assert session.run(tf.gradients(x * tf.stop_gradient(y), [x])) == [9]


def test_unconnected(session):
    x, y = tf.constant([1.0, 2.0]), tf.constant(3.0)
    assert tf.gradients(y, [x]) == [None]
    zeros = tf.gradients(y, [x], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert session.run(zeros)[0].tolist() == [0, 0]
    assert tf.gradients(tf.cast(tf.cast(x, tf.int32), tf.float32), x) == [None]


def test_missing_derivative_is_named(session):
    x = tf.constant([[1.0, 2.0], [0.0, 3.0]])
    y, _ = tf.linalg.lu(x, name="factors")
    with pytest.raises(LookupError, match=r"operation 'factors' \(op type: Lu\)"):
        tf.gradients(y, x)


@pytest.mark.parametrize("use_resource", [False, True])
def test_gather_gives_slices(session, use_resource):
    table = tf.get_variable("t", initializer=np.ones((4, 2), "f4"), use_resource=use_resource)
    rows = tf.gather(table, [[3, 1], [3, 0]])
    (gradient,) = tf.gradients(rows, table)
    assert isinstance(gradient, tf.IndexedSlices)
    session.run(tf.global_variables_initializer())
    values = session.run(gradient)
    assert values.indices.tolist() == [3, 1, 3, 0]
    assert values.values.shape == (4, 2)
    assert session.run(dense(gradient))[:, 0].tolist() == [1, 1, 0, 2]
    (both,) = tf.gradients([rows, tf.gather(table, [2])], table)
    assert sorted(session.run(both).indices) == [0, 1, 2, 3, 3]
    (whole,) = tf.gradients([rows, table * 5.0], table)
    assert session.run(whole)[:, 1].tolist() == [6, 6, 5, 7]


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("indices", [[[2], [0], [2]], [[2, 1], [0, 0], [2, 1]]])
def test_gather_nd(session, use_resource, indices):
    table = tf.get_variable("t", initializer=np.ones((4, 2), "f4"), use_resource=use_resource)
    picked = tf.gather_nd(table, indices)
    (slices,) = tf.gradients(picked * picked, table)
    session.run(table.initializer)
    got = session.run(tf.convert_to_tensor(slices))
    want = np.zeros((4, 2))
    np.add.at(want, tuple(np.array(indices).T), 2)
    assert isinstance(slices, tf.IndexedSlices) == (len(indices[0]) == 1)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("use_resource", [False, True])
def test_of_variables(session, use_resource):
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=use_resource)
    (gradient,) = tf.gradients(w * w, [w])
    session.run(tf.global_variables_initializer())
    assert session.run(gradient).tolist() == [2, 4]


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("training", [True, False])
def test_batch_normalization(session, training, data_format):
    """The op's gradients are those of the formula it stands for."""
    rng = np.random.RandomState(0)
    shape = [2, 3, 4, 5]
    channel = 3 if data_format == "NHWC" else 1
    axes = [axis for axis in range(4) if axis != channel]
    wide = [shape[channel] if axis == channel else 1 for axis in range(4)]
    x, weights = (tf.constant(rng.normal(size=shape).astype("f4")) for _ in range(2))
    scale, offset, mean = (
        tf.constant(rng.normal(size=shape[channel]).astype("f4")) for _ in range(3)
    )
    variance = tf.constant(rng.uniform(0.5, 2, shape[channel]).astype("f4"))
    statistics = (None, None) if training else (mean, variance)
    y, *_ = tf.nn.fused_batch_norm(x, scale, offset, *statistics, 0.01, data_format, training)
    if training:
        mean = tf.reduce_mean(x, axes, keepdims=True)
        variance = tf.reduce_mean(tf.square(x - mean), axes, keepdims=True)
    parts = [tf.reshape(part, wide) for part in (mean, variance, scale, offset)]
    z = (x - parts[0]) * tf.rsqrt(parts[1] + 0.01) * parts[2] + parts[3]
    derivatives, expected = (tf.gradients(t * weights, [x, scale, offset]) for t in (y, z))
    for got, want in zip(session.run(derivatives), session.run(expected), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_of_the_statistics_of_a_batch(session):
    """Nothing flows back through mean and variance, as in TensorFlow."""
    x = tf.constant(np.ones([2, 3, 3, 2], np.float32))
    _, mean, variance = tf.nn.fused_batch_norm(x, tf.ones([2]), tf.zeros([2]))
    for statistic in (mean, variance):
        (gradient,) = tf.gradients(statistic, x)
        assert not session.run(gradient).any()


def test_of_indices(session):
    """Nothing flows back through the indices of the largest elements."""
    x = tf.constant([[1.0, 3.0, 2.0]])
    values, indices = tf.nn.top_k(x, 2)
    (gradient,) = tf.gradients([indices], x)
    assert not session.run(gradient).any()
    (gradient,) = tf.gradients([values, indices], x)
    assert session.run(gradient).tolist() == [[0, 1, 1]]


def test_second_derivative(session):
    x = tf.constant([0.3, -0.5], tf.float64)
    (first,) = tf.gradients(tf.tanh(x), x)
    (second,) = tf.gradients(first, x)
    y = np.tanh([0.3, -0.5])
    np.testing.assert_allclose(session.run(second), -2 * y * (1 - y * y))


def test_registered_gradient(session):
    name = "GradientOfTheTest"

    @tf.RegisterGradient(name)
    def five(op, dy):
        return 5.0 * dy

    with pytest.raises(KeyError, match="Registering two gradient with name"):
        tf.RegisterGradient(name)(five)
    x = tf.constant(2.0)
    y = tf.square(x)
    y.op.attrs["_gradient_op_type"] = name.encode()
    assert session.run(tf.gradients(y, x)) == [5]


def test_gates_change_nothing(session):
    x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0], [4.0]])
    plain = tf.gradients(tf.matmul(x, y), [x, y])
    gated = tf.gradients(tf.matmul(x, y), [x, y], gate_gradients=True)
    for a, b in zip(session.run(plain), session.run(gated), strict=True):
        assert a.tolist() == b.tolist()


def test_clip_by_global_norm(session):
    x, y = tf.constant([3.0]), tf.constant([[4.0]])
    clipped, norm = tf.clip_by_global_norm([x, None, y], 1.0)
    assert clipped[1] is None
    assert session.run(norm) == 5
    np.testing.assert_allclose(session.run([clipped[0], clipped[2]])[1], [[0.8]], rtol=1e-6)
    slices = tf.IndexedSlices(y, tf.constant([2]), tf.constant([3, 1]))
    (same,), _ = tf.clip_by_global_norm([slices], 10.0)
    assert session.run(same).values.tolist() == [[4]]
    with pytest.raises(TypeError, match="`t_list` should be a sequence"):
        tf.clip_by_global_norm(x, 1.0)
    assert np.isnan(session.run(tf.clip_by_global_norm([x / 0.0], 1.0)[0][0])).all()


def test_clip_by_value_refuses_to_grow(session):
    with pytest.raises(ValueError, match="not compatible"):
        tf.clip_by_value(tf.constant([1.0]), tf.constant([[0.0], [0.5]]), 2.0)
