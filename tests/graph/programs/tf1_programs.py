"""Programs of TF1, given `tf`: what TensorFlow makes of them is stored in tf1_programs.json.

GRAPHS build operations, VALUES and RANDOM give numbers, ERRORS raises.
"""

from __future__ import annotations

import numpy as np


def names(tf):
    """Names made unique, within scopes and without."""
    a = tf.constant(1.0)
    tf.constant(2.0)
    with tf.name_scope("outer"):
        b = tf.add(a, 3.0)
        with tf.name_scope("inner") as scope:
            tf.multiply(a, b, name="product")
            tf.constant([1, 2], name="product")
        with tf.name_scope("inner"):
            c = a * b - 2.0
        with tf.name_scope(scope):
            tf.identity(c)
        with tf.name_scope(None):
            tf.identity(c, name="free")
    with tf.name_scope("outer"), tf.name_scope("", "fallback"):
        2.0 / (1.0 - c)
    tf.constant(1.0, name="Outer")
    -c + abs(c) ** 2


def scopes(tf):
    """Variable scopes: names, reuse, default names, entering again."""
    with tf.variable_scope("a") as a:
        tf.get_variable("v", [2])
        with tf.variable_scope("b", reuse=tf.AUTO_REUSE):
            tf.get_variable("v", [2], initializer=tf.zeros_initializer())
            tf.get_variable("v", [2])
        tf.add(1.0, 2.0)
    with tf.variable_scope("a", reuse=True):
        tf.get_variable("v", [2])
        tf.add(1.0, 2.0)
    with tf.variable_scope(None, "made"):
        tf.get_variable("v", initializer=3.0)
    with tf.variable_scope(None, "made"):
        tf.get_variable("v", initializer=[1, 2], trainable=False)
        with tf.variable_scope(a, auxiliary_name_scope=False), tf.name_scope("x"):
            tf.get_variable("w", [1, 2], dtype=tf.int32)
    tf.Variable(1.0)
    tf.Variable(lambda: tf.zeros([2]), name="made")
    tf.get_variable("r", [3], use_resource=True, initializer=tf.ones_initializer())
    tf.global_variables_initializer()


def variables(tf):
    """Reads and writes of both kinds of variables."""
    v = tf.Variable([1.0, 2.0], name="v")
    r = tf.Variable([1.0, 2.0], name="r", use_resource=True)
    for x in (v, r):
        x.assign(x + 1.0)
        x.assign_add([1.0, 1.0])
        tf.assign_sub(x, [1.0, 1.0], name="minus")
        tf.gather(x, [0])
        x.read_value()
    tf.group(v.initializer, r.initializer)
    tf.tuple([v * 2.0, None, v + 1.0])


def waiting(tf):
    """Control dependencies, and which are left out."""
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([a]):
        c = tf.identity(b, name="c")
        tf.identity(a, name="reads_a")
        tf.identity(c, name="reads_c")
        with tf.control_dependencies([b, c]):
            tf.no_op()
        with tf.control_dependencies(None):
            tf.no_op(name="free")
        tf.group(a, c, name="both")


def network(tf):
    """A LeNet up to its loss."""
    x = tf.placeholder(tf.float32, [None, 28, 28, 1], name="x")
    labels = tf.placeholder(tf.int64, [None], name="labels")

    def layer(name, x, shape):
        with tf.variable_scope(name):
            w = tf.get_variable("w", shape, initializer=tf.truncated_normal_initializer(stddev=0.1))
            b = tf.get_variable("b", shape[-1:], initializer=tf.constant_initializer(0.1))
            if len(shape) == 4:
                h = tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")
                h = tf.nn.relu(tf.nn.bias_add(h, b))
                return tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
            return tf.matmul(x, w) + b

    h = layer("conv2", layer("conv1", x, [5, 5, 1, 6]), [5, 5, 6, 16])
    h = tf.reshape(h, [-1, 7 * 7 * 16])
    h = tf.nn.dropout(tf.nn.relu(layer("fc1", h, [784, 84])), keep_prob=0.5)
    logits = layer("fc2", h, [84, 10])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    tf.reduce_mean(losses, name="loss")
    tf.nn.softmax_cross_entropy_with_logits_v2(labels=tf.one_hot(labels, 10), logits=logits)
    tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), labels), tf.float32))


def arrays(tf):
    """Functions that make and move elements."""
    x = tf.placeholder(tf.float32, [2, 3, 4])
    y = tf.placeholder(tf.float32, [None, 3])
    x[0, 1:, ::2]
    x[..., tf.newaxis, -1]
    tf.transpose(x)
    tf.transpose(y, [1, 0])
    tf.concat([y, y], 0)
    tf.stack([y, y], axis=1)
    tf.split(x, 2, axis=0)
    tf.split(x, [1, 2], 1)
    tf.unstack(x)
    tf.tile(y, [2, 1])
    tf.pad(x, [[0, 0], [1, 1], [0, 0]])
    tf.expand_dims(x, 0)
    tf.squeeze(x[:, :1], [1])
    tf.zeros([2, 3])
    tf.ones_like(y)
    tf.zeros_like(x)
    tf.fill([2], 7)
    tf.range(5)
    tf.range(1.0, 2.0, 0.5)
    tf.clip_by_value(x, 0.0, 1.0)
    tf.reduce_sum(x)
    tf.reduce_max(y, axis=1, keepdims=True)
    tf.reduce_mean(y, 0)
    tf.shape(y)
    tf.size(x)
    tf.rank(y)
    tf.where(y > 0.0, y, -y)
    tf.one_hot([1, 2], 3)
    tf.cast(y, tf.int32)
    tf.stop_gradient(y)
    tf.reshape(y, [tf.shape(y)[0], 1, 3])
    tf.squared_difference(y, 1.0)
    tf.nn.moments(x, [0, 1])
    tf.nn.l2_normalize(y, 1)
    tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=y)


GRAPHS = (names, scopes, variables, waiting, network, arrays)


def _initial(tf, initializer):
    return initializer([3, 5])


RANDOM = {
    "uniform": lambda tf: tf.random_uniform([5]),
    "uniform_in": lambda tf: tf.random_uniform([3], -2.0, 5.0, seed=7),
    "uniform_double": lambda tf: tf.random_uniform([3], dtype=tf.float64, seed=7),
    "integers": lambda tf: tf.random_uniform([6], -5, 1000, dtype=tf.int32),
    "integers_64": lambda tf: tf.random_uniform([3], 0, 10**12, dtype=tf.int64, seed=2),
    "normal": lambda tf: tf.random_normal([7], 1.0, 2.0),
    "normal_double": lambda tf: tf.random_normal([3], dtype=tf.float64, seed=4),
    "truncated": lambda tf: tf.truncated_normal([50]),
    "truncated_double": lambda tf: tf.truncated_normal([5], dtype=tf.float64),
    "shuffle": lambda tf: tf.random_shuffle(tf.range(10)),
    "glorot": lambda tf: _initial(tf, tf.glorot_uniform_initializer()),
    "scaled": lambda tf: _initial(tf, tf.variance_scaling_initializer(seed=3)),
}
"""Each with the graph's seed 5, run twice in one session."""


IDS = [[0, 1], [1, 0], [2, 0]]
PAIRS = [[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]], [[9.0, 10.0], [11.0, 12.0]]]
ENDS = [np.inf, -np.inf, 1e300, -1e300, 1.5, 300.0, -3e9]
WAVES = np.array([[3 + 4j, 0, 1j], [0, 0, 1e-9]])


def _variable(tf, name="v", value=(1.0, 2.0)):
    return tf.get_variable(name, initializer=np.float32(value), use_resource=True)


def _after_a_step(tf):
    v = _variable(tf)
    with tf.control_dependencies([tf.train.MomentumOptimizer(0.5, 0.5).minimize(v)]):
        return v.read_value()


VALUES = {
    "mean of segments of rank 2": lambda tf: tf.math.unsorted_segment_mean(
        [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], IDS, 3
    ),
    "mean of segments of rows": lambda tf: tf.math.unsorted_segment_mean(PAIRS, IDS, 4),
    "root of segments of rank 2": lambda tf: tf.math.unsorted_segment_sqrt_n(PAIRS, IDS, 3),
    "mean of integers": lambda tf: tf.math.unsorted_segment_mean([1, 2, 3, 0], [1, 0, 1, 1], 3),
    "norm of complex": lambda tf: tf.nn.l2_normalize(tf.constant(WAVES), 1),
    "norm of complex64": lambda tf: tf.nn.l2_normalize(tf.constant(WAVES, tf.complex64)),
    "no indices": lambda tf: tf.gather_nd(
        tf.reshape(tf.range(8), [2, 2, 2]), np.zeros((3, 0), "i4")
    ),
    "no indices of rank 3": lambda tf: tf.gather_nd([5.0, 6.0], np.zeros((2, 0, 0), "i8")),
    "0 and -1": lambda tf: tf.reshape(tf.zeros([0, 2, 3]), [0, -1, 3]),
    "-1 and 0": lambda tf: tf.reshape(tf.zeros([4, 0, 6]), [-1, 0, 8]),
    "-1 of nothing": lambda tf: tf.reshape(tf.zeros([0, 2, 3]), [-1, 3]),
    "saturated floats": lambda tf: tf.saturate_cast(tf.constant(ENDS, tf.float64), tf.float32),
    "saturated halves": lambda tf: tf.saturate_cast(tf.constant(ENDS, tf.float64), tf.float16),
    "saturated integers": lambda tf: tf.saturate_cast(
        tf.constant([np.inf, -np.inf, 3e38, 1.5, -3e9], tf.float32), tf.int32
    ),
    "saturated bytes": lambda tf: tf.saturate_cast(tf.constant(ENDS, tf.float64), tf.uint8),
    "wider integers": lambda tf: tf.saturate_cast(tf.constant([-5, 300], tf.int32), tf.int64),
    "integers as halves": lambda tf: tf.saturate_cast(
        tf.constant([-5, 70000], tf.int32), tf.float16
    ),
    "saturated complex": lambda tf: tf.saturate_cast(
        tf.constant([1e300 - 1e300j, 1 + 2j], tf.complex128), tf.complex64
    ),
    "complex to real": lambda tf: tf.saturate_cast(
        tf.constant([1e300 - 1e300j, 1 + 2j], tf.complex128), tf.float32
    ),
    "real to complex": lambda tf: tf.saturate_cast(tf.constant(ENDS, tf.float64), tf.complex64),
    "unconnected": lambda tf: tf.gradients(
        tf.constant(1.0), _variable(tf), unconnected_gradients="zero"
    )[0],
    "unconnected of several": lambda tf: tf.gradients(
        _variable(tf) * 3.0, [_variable(tf, "w", [[1.0]])], unconnected_gradients="zero"
    )[0],
    "a variable by itself": lambda tf: _own_gradient(tf, True),
    "a reference by itself": lambda tf: _own_gradient(tf, False),
    "a step on a variable": _after_a_step,
}
"""Each run once, after the variables were initialized."""


def _own_gradient(tf, resource):
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=resource)
    return tf.gradients([v * v, v], v)[0]


def _run(tf, make, feed=None):
    with tf.Session() as session:
        return session.run(make(), feed)


def _closed(tf):
    session = tf.Session()
    x = tf.constant(1.0)
    session.close()
    session.run(x)


def _other_graph(tf):
    with tf.Graph().as_default():
        other = tf.constant(1.0)
    tf.constant(1.0)
    with tf.Session() as session:
        session.run(other)


def _feed(tf, shape, value, dtype=None):
    x = tf.placeholder(dtype or tf.float32, shape, name="x")
    return _run(tf, lambda: x * 1, {x: value})


def _uninitialized(tf, resource):
    v = tf.get_variable("v", [2], use_resource=resource)
    return _run(tf, lambda: v + 1.0)


def _shared(tf, **arguments):
    with tf.variable_scope("s"):
        tf.get_variable("v", [2])
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", **arguments)


def _twice(tf):
    tf.get_variable("v", [2])
    tf.get_variable("v", [2])


def _missing(tf):
    with tf.variable_scope("s", reuse=True):
        tf.get_variable("v", [2])


def _finalized(tf):
    tf.get_default_graph().finalize()
    tf.constant(1.0)


def _two_graphs(tf):
    x = tf.constant(1.0)
    with tf.Graph().as_default():
        y = tf.constant(1.0)
    tf.add(x, y)


def _bad_label(tf):
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits
    return _run(tf, lambda: losses(labels=[1, 7], logits=tf.zeros([2, 3])))


ERRORS = {
    "uninitialized": lambda tf: _uninitialized(tf, False),
    "uninitialized resource": lambda tf: _uninitialized(tf, True),
    "not fed": lambda tf: _run(tf, lambda: tf.placeholder(tf.float32, [None, 3], "x") + 1.0),
    "fed shape": lambda tf: _feed(tf, [None, 3], np.zeros((2, 4))),
    "fed tensor": lambda tf: _feed(tf, [], tf.constant(1.0)),
    "fed number too large": lambda tf: _feed(tf, [], 300, tf.uint8),
    "fed by wrong name": lambda tf: _run(tf, lambda: tf.constant(1.0), {"y:0": 1}),
    "fed nothing known": lambda tf: _run(tf, lambda: tf.constant(1.0), {1.5: 1}),
    "fetched nothing known": lambda tf: tf.no_op() and _run(tf, lambda: 3.5),
    "fetched None": lambda tf: _run(tf, lambda: [tf.constant(1.0), None]),
    "fetched by wrong name": lambda tf: _run(tf, lambda: [tf.constant(1.0), "nope:0"]),
    "closed": _closed,
    "empty graph": lambda tf: _run(tf, lambda: "x:0"),
    "other graph": _other_graph,
    "two graphs": _two_graphs,
    "no default session": lambda tf: tf.constant(1.0).eval(),
    "no default session for an operation": lambda tf: tf.no_op().run(),
    "finalized": _finalized,
    "variable twice": _twice,
    "variable missing": _missing,
    "shared shape": lambda tf: _shared(tf, shape=[3]),
    "shared dtype": lambda tf: _shared(tf, shape=[2], dtype=tf.int32),
    "constant and shape": lambda tf: tf.get_variable("v", [2], initializer=[1.0, 2.0]),
    "no initial value": lambda tf: tf.Variable(),
    "dtypes": lambda tf: tf.add(tf.constant(1.0), tf.constant(1)),
    "operator dtypes": lambda tf: tf.constant(1.0) + tf.constant(1),
    "value dtype": lambda tf: tf.matmul([[1.0]], tf.constant([["a"]])),
    "constant dtype": lambda tf: tf.constant(1.5, tf.int32),
    "constant of None": lambda tf: tf.constant(None),
    "conversion": lambda tf: tf.convert_to_tensor(tf.constant(1.0), tf.int32),
    "bool of a tensor": lambda tf: bool(tf.constant(True)),
    "matmul rank": lambda tf: tf.matmul(tf.zeros([2]), tf.zeros([2, 2])),
    "matmul sizes": lambda tf: tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 2])),
    "broadcast": lambda tf: tf.zeros([2, 3]) + tf.zeros([4]),
    "reshape": lambda tf: tf.reshape(tf.zeros([4]), [3]),
    "conv2d depth": lambda tf: tf.nn.conv2d(
        tf.zeros([1, 8, 8, 3]), tf.zeros([3, 3, 2, 4]), strides=1, padding="SAME"
    ),
    "concat": lambda tf: tf.concat([tf.zeros([2, 3]), tf.zeros([2, 4])], 0),
    "label": _bad_label,
    "gather": lambda tf: _run(tf, lambda: tf.gather(tf.constant([1, 2, 3]), [0, 5])),
    "scope name": lambda tf: tf.name_scope("?").__enter__(),
    "assign shape": lambda tf: tf.Variable([1.0, 2.0]).assign([1.0]),
    "softmax labels": lambda tf: tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=tf.zeros([2, 2], tf.int32), logits=tf.zeros([2, 3])
    ),
    "operation by name": lambda tf: tf.get_default_graph().get_operation_by_name("nope"),
}


def graph_rows(tf, build) -> list:
    """[name, type, inputs, control inputs] of each operation that `build` adds."""
    with tf.Graph().as_default() as graph:
        tf.set_random_seed(1)
        build(tf)
        return [
            [
                op.name,
                op.type,
                [tensor.name for tensor in op.inputs],
                sorted(other.name for other in op.control_inputs),
            ]
            for op in graph.get_operations()
        ]


def random_numbers(tf, make) -> list[np.ndarray]:
    """What two runs give."""
    with tf.Graph().as_default():
        tf.set_random_seed(5)
        tensor = make(tf)
        with tf.Session() as session:
            return [np.asarray(session.run(tensor)) for _ in range(2)]


def value_of(tf, make) -> dict:
    """Dtype, shape and elements of what a program gives; of complex ones the parts."""
    with tf.Graph().as_default(), tf.Session() as session:
        tensor = make(tf)
        session.run(tf.global_variables_initializer())
        array = np.asarray(session.run(tensor))
    parts = [array.real, array.imag] if array.dtype.kind == "c" else [array]
    elements = [part.tolist() for part in parts]
    return {"dtype": array.dtype.name, "shape": list(array.shape), "is": elements}


def error_of(tf, provoke) -> tuple[str, str]:
    """Type and message of what `provoke` raises."""
    with tf.Graph().as_default():
        try:
            provoke(tf)
        except Exception as error:
            return type(error).__name__, str(error)
    return "nothing", ""


def outcomes(tf):
    """Graphs, values, draws and errors."""
    errors = {name: error_of(tf, make) for name, make in ERRORS.items()}
    return {
        "graphs": {build.__name__: graph_rows(tf, build) for build in GRAPHS},
        "values": {name: value_of(tf, make) for name, make in VALUES.items()},
        "random": {
            name: [array.tolist() for array in random_numbers(tf, make)]
            for name, make in RANDOM.items()
        },
        "errors": {name: [kind, _gist(message)] for name, (kind, message) in errors.items()},
    }


def _gist(message: str) -> str:
    """TensorFlow's message without the places at which operations were made."""
    lines = (
        message.split("\n\nOriginal stack trace")[0].split(" Originally defined at:")[0].split("\n")
    )
    return "\n".join(lines[-2:] if "{{node" in lines[-1] else lines)
