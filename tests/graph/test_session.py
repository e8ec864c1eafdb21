"""What a Session runs, keeps and refuses."""

import threading
from collections import defaultdict, namedtuple
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import flatlite.compat.v1 as tf
from flatlite import errors


def test_nests(session):
    """The result has the structure of what was asked for."""
    x = tf.constant([1.0, 2.0])
    v = tf.Variable(3.0, name="v")
    session.run(v.initializer)
    Pair = namedtuple("Pair", "a b")
    values = session.run({"l": [x, "v:0"], "p": Pair(v, (v.initializer, x[0])), "n": []})
    assert values["l"][0].tolist() == [1, 2]
    assert values["l"][1] == 3
    assert values["p"] == Pair(3, (None, 1))
    assert values["n"] == []
    assert type(session.run(x[0])) is np.float32
    assert session.run("v/Assign") is None


def test_slices_are_fetched(session):
    """IndexedSlices come as their arrays."""
    table = tf.Variable(np.ones((4, 2), np.float32))
    session.run(table.initializer)
    (slices,) = tf.gradients(tf.gather(table, [1, 1]), [table])
    values = session.run(slices)
    assert isinstance(values, tf.IndexedSlicesValue)
    assert values.indices.tolist() == [1, 1]
    assert values.values.tolist() == [[1, 1], [1, 1]]


def test_what_is_given_is_the_callers(session):
    """No later run changes it, and what is fed stays as it is."""
    x = tf.placeholder(tf.float32, [2])
    v = tf.Variable([1.0, 2.0])
    session.run(v.initializer)
    fed = np.array([5.0, 6.0], np.float32)
    first, same, doubled = session.run([v, tf.identity(x), x * 2], {x: fed})
    same[:] = 0
    session.run(v.assign_add([1.0, 1.0]))
    session.run(x * 2, {x: fed + 1})
    assert first.tolist() == [1, 2]
    assert doubled.tolist() == [10, 12]
    assert fed.tolist() == [5, 6]


def test_feeds(session):
    """Any tensor can be fed, by itself or by name, in any form that makes its array."""
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.add(x, 1.0, name="y")
    z = y * 2
    assert session.run(z, {x: [[1, 2]]}).tolist() == [[4, 6]]
    assert session.run(z, {"x:0": np.int64([[1, 2]])}).tolist() == [[4, 6]]
    assert session.run(z, {y: np.float32([[1, 2], [3, 4]]).T}).tolist() == [[2, 6], [4, 8]]
    assert session.run(z, {x: np.zeros((0, 2))}).shape == (0, 2)
    assert session.run(x[0], {x: np.float32([[1, 2], [3, 4]])[::-1]}).tolist() == [3, 4]
    default = tf.placeholder_with_default([1.0], [None])
    assert session.run(default * 2).tolist() == [2]
    assert session.run(default * 2, {default: [3, 4]}).tolist() == [6, 8]


def test_strings(session):
    """Strings are fed, kept and given as bytes."""
    s = tf.placeholder(tf.string, [None])
    v = tf.Variable(["a", "b"])
    session.run(v.initializer)
    session.run(tf.assign(v, s), {s: ["x", b"y"]})
    assert session.run([v, tf.concat([v, s], 0)], {s: ["z"]})[1].tolist() == [b"x", b"y", b"z"]


def test_sizes_that_depend_on_data(session):
    """What follows a result of unknown size is compiled for each size that is met."""
    x = tf.placeholder(tf.float32, [None])
    survivors = tf.boolean_mask(x, x > 0.0)
    result = [tf.reduce_sum(survivors * 2.0), tf.shape(survivors)[0], survivors]
    for values in ([1, -1, 2], [-1, -2, 5], [3, -4, 5]):
        total, count, positive = session.run(result, {x: values})
        expected = [v for v in values if v > 0]
        assert (total, count, positive.tolist()) == (2 * sum(expected), len(expected), expected)


def test_reads_before_writes(session):
    """What was read through a handle before a write stays, though it is used after it."""
    v = tf.Variable([1.0, 2.0], use_resource=True)
    session.run(v.initializer)
    old = v.read_value()
    reshaped = tf.reshape(old, [2, 1])
    with tf.control_dependencies([old]):
        update = v.assign_add(10 * old)
    with tf.control_dependencies([update.op]):
        late, new = reshaped * 2.0, v.read_value()
    for start in (1, 11):
        values = session.run([old, late, new])
        assert values[0].tolist() == [start, 2 * start]
        assert values[1].tolist() == [[2 * start], [4 * start]]
        assert values[2].tolist() == [11 * start, 22 * start]


@pytest.mark.parametrize("resource", [False, True], ids=["reference", "resource"])
def test_variables_belong_to_sessions(session, resource):
    """Another session has values of its own, and one value is initialised without the others."""
    v = tf.Variable(1.0, use_resource=resource, name="v")
    w = tf.Variable(2.0, use_resource=resource, name="w")
    session.run(v.initializer)
    assert session.run([v, v.is_initialized(), w.is_initialized()]) == [1, True, False]
    assert session.run(tf.report_uninitialized_variables()).tolist() == [b"w"]
    with tf.Session() as other:
        with pytest.raises(errors.FailedPreconditionError, match=r"v.*\n\t \[\[\{\{node "):
            other.run(v)
        v.load(7.0, other)
        assert other.run(v) == 7
    assert session.run(v) == 1
    with pytest.raises(errors.FailedPreconditionError):
        session.run(w.assign_add(1.0))


def test_initialised_within_a_run(session):
    """A variable may be read in the run that initialises it, after that."""
    v = tf.Variable([1.0])
    with tf.control_dependencies([v.initializer]):
        double = v.read_value() * 2
    assert session.run(double).tolist() == [2]


def test_shape_of_a_variable_may_change(session):
    """Where its shape was left open; compiled runs follow."""
    v = tf.Variable([1.0], validate_shape=False)
    value = tf.placeholder(tf.float32, None)
    change = tf.assign(v, value, validate_shape=False)
    session.run(v.initializer)
    total = tf.reduce_sum(v)
    assert session.run(total) == 1
    session.run(change, {value: [[1, 2], [3, 4]]})
    assert session.run(total) == 10
    session.run(change, {value: [5]})
    assert session.run([total, v])[1].tolist() == [5]


def test_errors_leave_the_session_usable(session):
    """A refused run changes nothing for the next one."""
    x = tf.placeholder(tf.int32, [])
    row = tf.gather(tf.constant([1, 2, 3]), x, name="row")
    for _ in range(2):
        with pytest.raises(errors.InvalidArgumentError, match=r"5 is not in \[0, 3\)\n.*node row"):
            session.run(row, {x: 5})
        assert session.run(row, {x: 2}) == 3


def test_unknown_kernel(session):
    """An operation that cannot run is named."""
    op = session.graph.add("NoSuchOp", "strange", n_outputs=1)
    with pytest.raises(errors.UnimplementedError, match=r"NoSuchOp.*\n.*strange"):
        session.run(op.outputs[0])


def test_interactive_session():
    """It is the default session until it is closed."""
    with tf.Graph().as_default():
        session = tf.InteractiveSession()
        x = tf.constant(2.0)
        assert x.eval() == 2
        session.close()
        with pytest.raises(ValueError, match="No default session"):
            x.eval()


def test_callable(session):
    """A function of fed values."""
    x = tf.placeholder(tf.float32, [])
    double = session.make_callable(x * 2, [x])
    assert [double(1.0), double(2.0)] == [2, 4]
    with pytest.raises(TypeError, match="takes 1 values, got 0"):
        double()


def test_a_run_is_compiled_once(session, monkeypatch):
    """And again only for other shapes."""
    from flatlite.graph.session import session as module

    built = []
    plan = module.run_plan_of
    monkeypatch.setattr(module, "run_plan_of", lambda *args: built.append(args) or plan(*args))
    x = tf.placeholder(tf.float32, [None])
    y = x * 2
    for n in (1, 1, 2, 1, 2):
        session.run(y, {x: np.ones(n)})
    assert len(built) == 2


def test_threads_are_checked():
    """A number of threads below 0 is refused."""
    with pytest.raises(ValueError, match="must not be negative, got -1"):
        tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=-1))


def test_shapes_as_tf1_has_them():
    """TensorShape, Dimension and what `shape` of a tensor offers."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 3])
        assert x.shape.as_list() == [None, 3]
        assert x.get_shape()[1].value == x.shape[1].value == 3
        assert x.get_shape()[0].value is None
        assert x.get_shape().ndims == 2
        assert str(x.get_shape()) == "(?, 3)"
        assert x.get_shape() == tf.TensorShape([None, 3])
        assert (x.get_shape()[1] + 2).value == 5
        assert x.get_shape().merge_with([4, None]).as_list() == [4, 3]
        with pytest.raises(ValueError, match="incompatible"):
            x.get_shape().assert_is_compatible_with([2, 4])
        x.set_shape([5, None])
        assert x.shape == (5, 3)
        unknown = tf.placeholder(tf.float32)
        assert unknown.get_shape().ndims is None
        with pytest.raises(ValueError, match="unknown"):
            unknown.get_shape().as_list()


def test_types_as_tf_has_them():
    """Names that numpy takes, too."""
    assert np.zeros(1, tf.float32).dtype == tf.float32 == np.float32
    assert tf.as_dtype("string") == tf.string
    assert tf.as_dtype(float) == tf.as_dtype("float") == tf.float32
    assert (tf.int8.min, tf.int8.max, tf.int8.is_integer, tf.half.size) == (-128, 127, True, 2)
    with pytest.raises(TypeError, match="Cannot convert"):
        tf.as_dtype("nothing")


def test_each_thread_has_its_own_scopes():
    """As in TensorFlow's testTwoThreadsNestedScopeEntry: names, and variables that are shared."""
    graph, entered, actual = tf.Graph(), threading.Barrier(2, timeout=60), {}

    def enter(i):
        with graph.as_default(), tf.variable_scope("foo"):
            entered.wait()
            if i == 0:
                actual[i] = tf.get_variable("v", []).name
            entered.wait()
            if i == 1:
                with pytest.raises(ValueError, match="foo/v already exists"):
                    tf.get_variable("v", [])
                actual[i] = tf.get_variable_scope().name, tf.constant(1.0).name.count("/")

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(enter, range(2))) == [None, None]
    assert actual == {0: "foo/v:0", 1: ("foo", 1)}


def test_targets():
    """A session runs here or on a server; TensorFlow's errors say so of other targets."""
    with tf.Graph().as_default() as graph:
        assert tf.Session("local").graph is graph
    with pytest.raises(
        tf.errors.NotFoundError, match="No session factory registered for the given"
    ):
        tf.Session("elsewhere")
    with pytest.raises(tf.errors.UnavailableError, match="failed to connect to all addresses"):
        tf.Session("grpc://localhost:1")


def test_feeds_of_several_parts():
    """A tuple of tensors is fed with a tuple; IndexedSlices with values, indices and shape."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b, c = (tf.placeholder(tf.float32, [None], name) for name in "abc")
        feeds = {(a, (b, c)): ([1.0], ([2.0], [3.0]))}
        assert session.run([a, b, c], feeds) == [[1.0], [2.0], [3.0]]
        rows = tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.int64, [None])
        for more in ((), (tf.placeholder(tf.int64, [2]),)):
            slices = tf.IndexedSlices(*rows, *more)
            values = ([[1.0, 2.0]], [3], [4, 2])[: 2 + len(more)]
            actual = session.run([slices.values, slices.indices], {slices: values})
            assert [array.tolist() for array in actual] == [[[1.0, 2.0]], [3]]


def test_nests_of_default_dicts():
    """What is given back has the default of what was asked for."""
    with tf.Graph().as_default(), tf.Session() as session:
        nest = defaultdict(list, a=tf.constant(1))
        values = session.run(nest)
    assert values == {"a": 1}
    assert values["b"] == []


def test_texts_are_fed():
    """Strings become bytes, in arrays of objects, too; numbers are no strings."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [None])
        texts = np.array(["a", "\u00e9"], object)
        assert session.run(tf.identity(x), {x: texts}).tolist() == [b"a", "\u00e9".encode()]
        with pytest.raises(TypeError, match=r"Type of feed value .* is not compatible"):
            session.run(x, {x: [1]})


def test_callables_with_options():
    """`accept_options` lets a callable take what `run` takes."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [])
        y = tf.sin(x)
        metadata = tf.RunMetadata()
        traced = session.make_callable(y, [x], accept_options=True)
        assert traced(0.0, options=tf.RunOptions(trace_level=3), run_metadata=metadata) == 0
        assert metadata.step_stats.dev_stats
        with pytest.raises(TypeError, match="got unexpected keyword arguments: options"):
            session.make_callable(y, [x])(0.0, options=None)
        with pytest.raises(TypeError, match="takes 1 values, got 0"):
            traced()


def test_a_block_is_not_entered_twice():
    """TensorFlow's words for a session entered within its own block."""
    with tf.Graph().as_default(), tf.Session() as session:
        with pytest.raises(RuntimeError, match="not re-entrant"), session:
            pass
        with session.as_default():
            pass
    with pytest.raises(TypeError, match='Argument `target` must be a string, but got "int"'):
        tf.Session(37)
