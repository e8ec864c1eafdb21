"""Functions whose arguments say more than one thing: computed sizes, numbers left out."""

import inspect

import numpy as np
import pytest

import flatlite.compat.v1 as tf

pytestmark = pytest.mark.usefixtures("session")


def test_strides_left_out_are_1(session):
    x = tf.constant(np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2))
    filters = tf.constant(np.arange(36, dtype=np.float32).reshape(3, 3, 2, 2))
    pairs = [
        (
            tf.nn.conv2d_transpose(x, filters, [1, 4, 4, 2], padding="SAME"),
            tf.nn.conv2d_transpose(x, filters, [1, 4, 4, 2], 1, "SAME"),
        ),
        (tf.nn.conv2d(x, filters, None, "SAME"), tf.nn.conv2d(x, filters, 1, "SAME")),
        (
            tf.nn.conv2d(x, filters, 1, "SAME", dilations=None),
            tf.nn.conv2d(x, filters, 1, "SAME", dilations=1),
        ),
        (tf.nn.max_pool(x, 2, None, "VALID"), tf.nn.max_pool(x, 2, 1, "VALID")),
        (tf.nn.avg_pool(x, 2, None, "VALID"), tf.nn.avg_pool(x, 2, 1, "VALID")),
    ]
    for result, expected in pairs:
        np.testing.assert_array_equal(*session.run([result, expected]))


@pytest.mark.parametrize("sizes", [(2, 3), (3, 2), (2, 2)])
def test_stacks_of_identity_matrices_of_computed_size(session, sizes):
    rows, columns = (tf.placeholder_with_default(size, []) for size in sizes)
    stack = tf.eye(rows, columns, batch_shape=[2, 1])
    np.testing.assert_array_equal(
        session.run(stack), np.broadcast_to(np.eye(*sizes), (2, 1, *sizes))
    )
    batch = tf.eye(*sizes, batch_shape=[rows])
    np.testing.assert_array_equal(
        session.run(batch), np.broadcast_to(np.eye(*sizes), (sizes[0], *sizes))
    )


def test_shapes_that_variables_hold(session):
    shape = tf.Variable([2, 3])
    session.run(tf.global_variables_initializer())
    assert session.run(tf.zeros(shape)).shape == (2, 3)
    assert session.run(tf.random_uniform(shape)).shape == (2, 3)


@pytest.mark.parametrize("axis", [[0, 1], (0, 1)])
def test_norms_of_matrices(session, axis):
    x = tf.constant([[3.0, 0.0], [0.0, 4.0]])
    assert session.run(tf.norm(x, axis=axis)) == 5
    assert session.run(tf.norm(x, 1, axis)) == 4


def test_approximate_extremes_are_exact():
    """TensorFlow's own operation ends the process on a CPU; here it is top_k."""
    x = np.random.RandomState(0).randn(5, 7).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        expected = session.run(tf.nn.top_k(x, 3))
        for approximate in (tf.math.approx_max_k, tf.nn.approx_max_k):
            values, indices = session.run(approximate(x, 3))
            assert values.tolist() == expected[0].tolist()
            assert indices.tolist() == expected[1].tolist()
        values, _ = session.run(tf.nn.approx_min_k(x, 2, 0))
        assert values.tolist() == np.sort(x, 0)[:2].tolist()


@pytest.mark.parametrize("unknown", [(0,), (1,), (2,), (0, 1, 2)])
def test_loss_of_unknown_ranks(unknown):
    """As where ranks are known: what TensorFlow gives for these numbers."""
    arrays = [
        np.array([[0], [1], [2]], np.int32),
        np.float32([[2, 1, 0], [3, -1, 0], [0, 1, -2]]),
        np.float32([[1.2], [3.4], [5.6]]),
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        operands = [
            tf.placeholder_with_default(x, None) if i in unknown else tf.constant(x)
            for i, x in enumerate(arrays)
        ]
        loss = tf.losses.sparse_softmax_cross_entropy(*operands)
        np.testing.assert_allclose(session.run(loss), 11.022533, rtol=1e-5)


def test_functions_of_one_operation_say_what_they_take():
    assert tf.roll.__doc__.splitlines() == [
        "`input` with elements that leave at one end of an axis coming back at the other.",
        "",
        "Args:",
        "    input: any type, of at least rank 1.",
        "    shift: int32, int64, of at most rank 1.",
        "    axis: int32, int64, of at most rank 1.",
        "    name: Of the operation.",
        "",
        "Raises TypeError for other types, ValueError for shapes and numbers that do not fit.",
    ]
    assert "    block_size: An integer, at least 2." in tf.nn.space_to_depth.__doc__
    assert "    density_unit: One of 'in', 'cm'." in tf.image.encode_jpeg.__doc__


def test_functions_say_what_they_give():
    names = [(home, name) for home in (tf, tf.math, tf.nn, tf.image) for name in dir(home)]
    functions = [f for f in (getattr(*place) for place in names) if inspect.isfunction(f)]
    assert not [f.__name__ for f in functions if (f.__doc__ or ".").startswith(".")]


@pytest.mark.parametrize("value_range", [(5, 5), (5, 0)])
def test_histograms_need_a_range(session, value_range):
    ends = tf.placeholder_with_default(np.float32(value_range), [2])
    words = r"value_range should satisfy value_range\[0\] < value_range\[1\]"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(tf.histogram_fixed_width(np.float32([1]), ends, 5))
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        tf.histogram_fixed_width(np.float32([1]), np.float32(value_range), 5)


def test_sequences_are_searched_row_by_row(session):
    """Expected values are TensorFlow 2.21's."""
    rows = np.arange(24).reshape(2, 3, 4)
    places = tf.searchsorted(rows, np.arange(6).reshape(3, 2, 1) * 4)
    assert session.run(places).tolist() == np.zeros((3, 2, 1), int).tolist()
    assert session.run(tf.searchsorted([1, 3], [[2]])).tolist() == [[1]]
    with pytest.raises(ValueError, match="Leading dim_size of both tensors must match"):
        tf.searchsorted([[1, 3], [2, 4]], [[2]])


def test_a_filters_gradient_says_which_size_is_wrong(session):
    dy = np.ones((1, 2, 1, 1), np.float32)
    x = np.ones((1, 2, 2, 1), np.float32)
    gradient = tf.nn.conv2d_backprop_filter(x, [2, 2, 1, 1], dy, [1, 1, 1, 1], "VALID")
    words = "out_backprop doesn't match computed: actual = 2, computed = 1"
    with pytest.raises(tf.errors.InvalidArgumentError, match=words):
        session.run(gradient)


def test_parallel_stacks_of_two_shapes_are_refused():
    with pytest.raises(ValueError, match="incompatible"):
        tf.parallel_stack([[1, 2], [3]])


@pytest.mark.parametrize("seed", [[1], [1, 2, 3]])
def test_seeds_are_pairs(seed):
    for draw in (tf.random.stateless_uniform, tf.random.stateless_normal):
        with pytest.raises(ValueError, match=f"Dimension must be 2 but is {len(seed)}"):
            draw([2], seed)
    with pytest.raises(ValueError, match=f"Dimension must be 2 but is {len(seed)}"):
        tf.random.stateless_gamma([3], seed, 1.0)


def test_arrays_take_a_slice_for_each_index(session):
    array = tf.TensorArray(tf.float32, 3)
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 2"):
        array.scatter([2, 0], [1.0, 2.0, 3.0])
    places = tf.placeholder(tf.int32, [None])
    scattered = array.scatter(places, [1.0, 2.0, 3.0]).stack()
    assert session.run(scattered, {places: [2, 0, 1]}).tolist() == [2.0, 3.0, 1.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Expected: 2 Actual: 3"):
        session.run(scattered, {places: [2, 0]})


def test_none_is_no_tensor():
    with pytest.raises(ValueError, match="None values not supported"):
        tf.convert_to_tensor_or_indexed_slices(None)


@pytest.mark.parametrize(
    ("indices", "expected"),
    [
        ([0, 1], np.int32),
        (5, np.int32),
        ([np.uint8(1), 2], np.int32),
        ([0, 1 << 40], np.int64),
        (np.array([0, 1]), np.int64),
        (np.array([0, 1], np.uint8), np.uint8),
        (np.int64(1), np.int64),
        ([], np.int64),
        ([True], np.int64),
    ],
)
def test_values_keep_a_type_that_an_operation_lists(indices, expected):
    """Its default is for what has none of these. Expected types are TensorFlow 2.21's."""
    assert tf.one_hot(indices, 3).op.inputs[0].dtype == expected


def test_a_handle_is_no_constant(session):
    v = tf.Variable(1.0, use_resource=True)
    session.run(v.initializer)
    assert session.run(tf.guarantee_const(v)) == 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be a resource variable"):
        session.run(tf.guarantee_const(v.handle))
