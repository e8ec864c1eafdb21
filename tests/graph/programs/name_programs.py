"""Programs of TF1 about names of metrics and structures of loops, given `tf`.

What TensorFlow gives is stored in name_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


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
    """Names of values and updates that TensorFlow does not leave to the kind of the operation."""
    rows = {}
    for name in metric_names(tf):
        if name.startswith(("true_", "false_", "mean_iou")):
            continue
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


def outcomes(tf):
    """What each program gives."""
    return {function.__name__: function(tf) for function in PROGRAMS}
