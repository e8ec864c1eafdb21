"""Programs of TF1 about names of metrics and cells, configurations and structures, given `tf`.

What TensorFlow gives is stored in name_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

import json

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def plain_config(value):
    """A configuration as JSON holds it."""
    return json.loads(json.dumps(value, sort_keys=True, default=str))


def arguments_of(tf, name):
    """What a metric of this name is called with."""

    def fed(dtype, *sizes):
        return tf.placeholder(dtype, sizes)

    def floats():
        return fed(tf.float32, 3)

    if "at_k" in name:
        return [fed(tf.int64, 3, 2), fed(tf.float32, 3, 5), 2]
    if "at_top_k" in name:
        return [fed(tf.int64, 3, 2), fed(tf.int64, 3, 2), 2]
    if "_at_" in name:
        return [fed(tf.bool, 3), floats(), [0.2, 0.5] if "thresholds" in name else 0.5]
    if name in ("mean", "mean_tensor"):
        return [floats()]
    if name == "percentage_below":
        return [floats(), 0.5]
    if name == "mean_cosine_distance":
        return [fed(tf.float32, 3, 2), fed(tf.float32, 3, 2), 1]
    if name == "mean_relative_error":
        return [floats(), floats(), floats()]
    if name in ("mean_iou", "mean_per_class_accuracy"):
        return [fed(tf.int64, 3), fed(tf.int64, 3), 3]
    return [floats(), floats()]


def metric_names(tf):
    """The names of all metrics."""
    return sorted(n for n in dir(tf.metrics) if n[0] != "_" and callable(getattr(tf.metrics, n)))


@program
def metric_variables(tf):
    """Names of each metric's variables, by itself, once more, and within scopes."""
    rows = {}
    for name in metric_names(tf):
        metric = getattr(tf.metrics, name)
        with tf.Graph().as_default():
            metric(*arguments_of(tf, name))
            metric(*arguments_of(tf, name))
            metric(*arguments_of(tf, name), name="named")
            with tf.variable_scope("outer"), tf.name_scope("inner"):
                metric(*arguments_of(tf, name))
            rows[name] = [v.op.name for v in tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)]
    return rows


@program
def metric_results(tf):
    """Names of values and updates."""
    rows = {}
    for name in metric_names(tf):
        with tf.Graph().as_default():
            results = getattr(tf.metrics, name)(*arguments_of(tf, name))
            rows[name] = [result.name for result in results]
    return rows


def invariant_error(tf, variables, invariants):
    """What shapes of another structure raise: the type and the first words."""
    with tf.Graph().as_default():
        try:
            tf.while_loop(lambda *x: False, lambda *x: x, variables, shape_invariants=invariants)
        except (TypeError, ValueError) as caught:
            return [type(caught).__name__, str(caught)[:52]]
    return "accepted"


@program
def invariant_structures(tf):
    """Shape invariants that nest otherwise than the loop variables."""
    any_shape = tf.TensorShape(None)
    cases = [
        ((0, 0), [any_shape, any_shape]),
        ([0, 0], (any_shape, any_shape)),
        ([0, 0], {"a": any_shape, "b": any_shape}),
        ([0, 0], [any_shape]),
        ([0, (1, 2)], [any_shape, [any_shape, any_shape]]),
        ([{"i": 0}], [{"j": any_shape}]),
        ([0], any_shape),
        ([0], [[]]),
        ([0], [[None, 2]]),
        ([0, (1, 2)], [any_shape, (any_shape, any_shape)]),
    ]
    return [invariant_error(tf, *case) for case in cases]


@program
def results_of_counts(tf):
    """The operations that give counts and a loss."""
    x = tf.constant([1.0, 0.0, 1.0])
    counts = [tf.metrics.true_positives(x, x), tf.metrics.false_negatives(x, x)]
    loss = tf.losses.mean_pairwise_squared_error(tf.ones([2, 3]), tf.ones([2, 3]))
    return [*(value.name for value, _ in counts), loss.name]


@program
def variables_of_scopes(tf):
    """Arguments by their positions, in another scope's name; variables that are there."""
    with tf.variable_scope("a") as scope:
        pass
    store = next(iter(tf.get_collection(("__variable_store",))), None)
    ones, zeros = tf.ones_initializer(), tf.zeros_initializer()
    first = scope.get_variable(store, "v", [2], tf.float32, ones, None, None, False)
    same = scope.get_variable(store, "v", [2], tf.float32, zeros, None, True)
    try:
        scope.get_variable(store, "w", [2], reuse=True)
    except ValueError as error:
        refused = str(error).split(".")[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value = session.run(first).tolist()
    return [first.name, first is same, first.trainable, value, refused]


@program
def layer_configurations(tf):
    """What layers say of themselves, and layers built from it; not what TensorFlow alone says."""
    layers = tf.layers
    examples = [
        layers.Dense(3, bias_initializer=tf.ones_initializer(), name="first"),
        layers.Dense(3, tf.nn.relu, trainable=False, kernel_initializer=tf.zeros_initializer()),
        layers.Conv1D(2, 3, padding="same", data_format="channels_first", dtype=tf.float64),
        layers.Conv2D(4, 3, activation=tf.tanh, kernel_initializer=tf.constant_initializer(2.0)),
        layers.SeparableConv2D(4, (3, 5), depth_multiplier=2),
        layers.Conv2DTranspose(4, 3, strides=2, use_bias=False),
        layers.Conv2DTranspose(4, 3, strides=2, output_padding=(1, 0)),
        layers.Conv2D(4, 3, groups=2),
        layers.Conv3DTranspose(4, 3),
        layers.MaxPooling2D(2, 2, padding="same"),
        layers.AveragePooling1D(2, 1),
        layers.BatchNormalization(epsilon=0.25, scale=False),
        layers.Dropout(0.3, seed=4),
        layers.Flatten(),
    ]
    rows = []
    for layer in examples:
        config = layer.get_config()
        unsaid = set()
        if isinstance(layer, layers.SeparableConv2D):
            unsaid |= {"kernel_initializer", "kernel_regularizer", "kernel_constraint"}
        compared = {key: value for key, value in config.items() if key not in unsaid}
        other = type(layer).from_config({**compared, "name": "other"})
        rows.append([plain_config(compared), other.get_config()["name"], other.name == "other"])
    return rows


@program
def cell_configurations(tf):
    """`get_config` of cells and wrappers."""
    cells = tf.nn.rnn_cell
    uniform = tf.random_uniform_initializer(-1.0, 1.0, seed=2)
    projected = {"use_peepholes": True, "cell_clip": 1.0, "num_proj": 2, "proj_clip": 3.0}
    recurrent = {"variational_recurrent": True, "input_size": 3, "dtype": tf.float32, "seed": 7}

    class Inherited(cells.GRUCell):
        pass

    with tf.Graph().as_default():
        built = cells.GRUCell(3)
        built(tf.zeros([2, 4]), tf.zeros([2, 3]))
        listed = [
            cells.BasicRNNCell(4),
            cells.BasicRNNCell(4, activation="relu", reuse=True, name="named"),
            cells.BasicRNNCell(4, activation=tf.nn.relu, dtype=tf.float32),
            cells.GRUCell(3, bias_initializer=tf.constant_initializer(1.0)),
            cells.GRUCell(3, kernel_initializer="glorot_uniform"),
            cells.BasicLSTMCell(3, forget_bias=0.5, state_is_tuple=False, activation=tf.sigmoid),
            cells.LSTMCell(3),
            cells.LSTMCell(3, initializer=uniform, **projected),
            cells.MultiRNNCell([cells.GRUCell(3), cells.GRUCell(2)]),
            cells.DropoutWrapper(cells.GRUCell(3), input_keep_prob=0.5),
            cells.DropoutWrapper(cells.GRUCell(3), output_keep_prob=0.5, **recurrent),
            cells.DropoutWrapper(cells.GRUCell(3), output_keep_prob=tf.constant(0.5)),
            cells.ResidualWrapper(cells.GRUCell(3)),
            cells.DeviceWrapper(cells.GRUCell(3), "/cpu:0"),
            Inherited(2),
            built,
        ]
        again = cells.LSTMCell.from_config(cells.LSTMCell(2, num_proj=1).get_config())
        around = cells.DropoutWrapper(built, 0.5).get_config()
        errors = [
            [type(caught).__name__, str(caught)]
            for caught in (raised(lambda: cells.DropoutWrapper.from_config(around)),)
        ]
        around = cells.DropoutWrapper.from_config({**around, "cell": built})
        return [cell.get_config() for cell in (*listed, again, around)] + errors


def raised(call):
    """What a call raises."""
    try:
        call()
    except ValueError as caught:
        return caught
    return None


@program
def cell_scopes(tf):
    """Names of cells of a program's classes, and of their variables."""
    cells = tf.nn.rnn_cell

    class OwnCell(cells.RNNCell):
        state_size = output_size = 3

        def call(self, inputs, state):
            weights = tf.get_variable("w", [inputs.shape[1], 3])
            output = tf.tanh(tf.matmul(inputs, weights) + state)
            return output, output

    class OwnGRU(cells.GRUCell):
        pass

    with tf.Graph().as_default():
        names = []
        for make in (OwnCell, lambda: OwnGRU(3)):
            tf.nn.dynamic_rnn(make(), tf.zeros([2, 3, 4]), dtype=tf.float32)
            cell = make()
            cell(tf.zeros([2, 4]), tf.zeros([2, 3]))
            names.append(cell.name)
        stack = cells.MultiRNNCell([cells.GRUCell(3), OwnGRU(3)])
        stack(tf.zeros([2, 4]), stack.zero_state(2, tf.float32))
        return [*names, stack.name, *(v.op.name for v in tf.global_variables())]


@program
def split_arrays(tf):
    """Arrays of parts: equal ones, others, and not as many as there are elements."""
    outcomes = []
    for lengths, arguments in (
        ([1, 1, 1], {"size": 3}),
        ([1, 2], {"size": 2}),
        ([1, 2], {"size": 2, "infer_shape": False}),
        ([1, 2], {"size": 3, "infer_shape": False}),
        ([1, 2], {"size": 0, "infer_shape": False, "dynamic_size": True}),
    ):
        with tf.Graph().as_default(), tf.Session() as session:
            outcomes.append(split_array(tf, session, lengths, arguments))
    return outcomes


def split_array(tf, session, lengths, arguments):
    """The last part, or the type of an error and whether its words are there."""
    try:
        array = tf.TensorArray(tf.float32, **arguments).split([1.0, 2.0, 3.0], lengths)
        return session.run(array.read(len(lengths) - 1)).tolist()
    except tf.errors.InvalidArgumentError as error:
        words = "Could not write to TensorArray index 1", "is not equal to the size of lengths"
        return [type(error).__name__, [text in str(error) for text in words]]


def outcomes(tf):
    """What each program gives."""
    return {function.__name__: function(tf) for function in PROGRAMS}
