"""Records functions at sizes down to no rows, and how many operators TensorFlow's file has.

Functions that TensorFlow's converter refuses, gradients of loops, have no number of operators.

Run as `python tests/converter/tf/make_empty_loops.py` in an environment that has TensorFlow 2.21.
A case has the entries "<name>/graph" (a serialized GraphDef), "/inputs", "/outputs", "/operators",
and for each run "/<run>/x<i>" and "/<run>/y<i>".
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import tensorflow as tf
from make_function_operators import operator_count
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

ROWS = np.random.default_rng(5).normal(size=(3, 4)).astype(np.float32)
RUNS = [[ROWS], [ROWS[:1]], [ROWS[:0]]]


def array_of(rows: tf.Tensor, element: Sequence[int]) -> tf.TensorArray:
    return tf.TensorArray(tf.float32, tf.shape(rows)[0], element_shape=element)


def sums(x):
    return tf.map_fn(lambda row: row * 2 + tf.reduce_max(row), x)


def two_lists(x):
    types = (tf.float32, tf.int32)
    return tf.map_fn(
        lambda row: (row * 2, tf.cast(tf.argmax(row), tf.int32)), x, fn_output_signature=types
    )


def chosen(x):
    """A list of as many rows as the values say."""
    return tf.map_fn(tf.sin, tf.boolean_mask(x, x[:, 0] > 0))


def running(x):
    return tf.scan(lambda total, row: total + row, x, tf.zeros([4]))


def backwards(x):
    return tf.scan(lambda total, row: total * 0.5 + row, x, tf.zeros([4]), reverse=True)


def of_maps(x):
    return tf.map_fn(lambda row: tf.map_fn(lambda element: element * element, row), x)


def counted(count):
    floats = tf.map_fn(
        lambda i: tf.cast(i, tf.float32) + 0.5, tf.range(count), fn_output_signature=tf.float32
    )
    return floats, tf.reduce_sum(floats)


def read_back(x):
    array = array_of(x, [4])
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(i, x[i])
        if i > 0:
            array = array.write(i, array.read(i - 1) + x[i])
    return array.stack()


def over_others(x):
    """A list that is the rows of another tensor at first."""
    array = array_of(x, [4]).unstack(x)
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(i, -tf.gather(x, i))
    return array.stack()


def with_length(x):
    """The length of the list is looked at in its loop."""
    array = array_of(x, [])
    for i in tf.range(tf.shape(x)[0]):
        array = array.write(i, tf.cast(array.size(), tf.float32) + x[i, 0])
    return array.stack()


def parts(x):
    """Parts without elements, of one size at every length of what they are part of."""
    return x[:, :0], tf.nn.relu(x[1:1]), tf.concat([x[:0], x], 0)


def segments(x):
    numbers = tf.range(tf.shape(x)[0]) // 2
    return tf.math.segment_sum(x, numbers)


def spectra(x):
    """Of any number of signals of any length: no operator more than TensorFlow's."""
    return tf.abs(tf.signal.stft(x, 256, 128))


def appended(x):
    """Lists without elements at first, in a loop all sizes of whose body are known."""
    start = (0, tf.zeros([0], tf.int32), x[:0], x[0, :0])
    shapes = tuple(tf.TensorShape(shape) for shape in ([], [None], [None, 4], [None]))
    return tf.while_loop(
        lambda i, *lists: i < 3,
        lambda i, numbers, rows, sevens: (
            i + 1,
            tf.concat([numbers, [i]], 0),
            tf.concat([rows, x[:1]], 0),
            tf.concat([[7.0], sevens], 0),
        ),
        start,
        shapes,
    )[1:]


def appended_constants(x):
    shapes = tuple(tf.TensorShape(shape) for shape in ([], [None, 2]))
    return tf.while_loop(
        lambda i, rows: i < tf.shape(x)[0],
        lambda i, rows: (i + 1, tf.concat([rows, [[7.0, 8.0]]], 0)),
        (0, tf.zeros([0, 2])),
        shapes,
    )[1]


def gradient(function):
    """What the sum of a function's results depends on."""

    def body(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(function(x))
        return tape.gradient(total, x)

    return body


@gradient
def map_gradient(x):
    return tf.map_fn(lambda row: row * tf.reduce_sum(row), x)


@gradient
def scan_gradient(x):
    return tf.scan(lambda state, row: tf.tanh(state * row), x, tf.ones([4]))


@gradient
def fold_gradient(x):
    return tf.foldl(lambda state, row: tf.tanh(state * row), x, tf.ones([4]))


@gradient
def loop_gradient(x):
    return tf.while_loop(
        lambda i, y: i < tf.shape(x)[0], lambda i, y: (i + 1, tf.sin(y) * x), (0, x)
    )[1]


def reshaped(x):
    """To a size of 0 and one that is to be inferred."""
    return tf.reshape(x, [-1, 0]), tf.reshape(x, [-1, 2, 0]), tf.reshape(x, [0, -1])


def branches(x, takes_none):
    return tf.cond(takes_none, lambda: x[:0], lambda: x + 1)


Specs = Sequence[tuple[Sequence[int | None], tf.DType]]
FLOATS: Specs = [([None, 4], tf.float32)]
FIXED: Specs = [([3, 4], tf.float32)]
CASES: dict[str, tuple[Callable, Specs, Sequence[Sequence[np.ndarray]]]] = {
    **{
        body.__name__: (body, FLOATS, RUNS)
        for body in (
            sums, two_lists, chosen, running, backwards, of_maps, read_back, over_others,
            with_length, segments, appended_constants,
        )
    },
    **{
        name: (body, specs, runs)
        for name, body in (
            ("map_gradient", map_gradient), ("scan_gradient", scan_gradient),
            ("fold_gradient", fold_gradient), ("loop_gradient", loop_gradient),
        )
        for name, specs, runs in (
            (name, FLOATS, RUNS), (f"{name}_of_3", FIXED, RUNS[:1]),
        )
    },
    "appended": (appended, FIXED, RUNS[:1]),
    "reshaped": (
        reshaped, [([None, 0], tf.float32)], [[np.zeros((n, 0), np.float32)] for n in (3, 1)],
    ),
    "spectra": (
        spectra,
        [([None, None], tf.float32)],
        [[np.resize(ROWS, (n, 128 * n + 200))] for n in (2, 1)],
    ),
    "counted": (counted, [([], tf.int32)], [[np.int32(n)] for n in (3, 0)]),
    "none_to_map": (sums, [([0, 4], tf.float32)], [[ROWS[:0]]]),
    "parts": (parts, FIXED, [[ROWS]]),
    "branches": (
        branches, [*FIXED, ([], tf.bool)], [[ROWS, np.bool_(True)], [ROWS, np.bool_(False)]],
    ),
}  # fmt: skip


def main():
    recorded = {}
    for name, (body, specs, runs) in CASES.items():
        function = tf.function(body)
        concrete = function.get_concrete_function(
            *(tf.TensorSpec(shape, dtype, f"x{i}") for i, (shape, dtype) in enumerate(specs))
        )
        frozen = convert_variables_to_constants_v2(concrete)
        graph = frozen.graph.as_graph_def().SerializeToString()
        recorded[f"{name}/graph"] = np.frombuffer(graph, np.uint8)
        recorded[f"{name}/inputs"] = np.array([x.name for x in frozen.inputs])
        recorded[f"{name}/outputs"] = np.array([x.name for x in frozen.outputs])
        if "gradient" not in name:
            converter = tf.lite.TFLiteConverter.from_concrete_functions([concrete], function)
            recorded[f"{name}/operators"] = np.array(operator_count(converter.convert()))
        for run, arrays in enumerate(runs):
            results = tf.nest.flatten(function(*arrays))
            recorded |= {f"{name}/{run}/x{i}": x for i, x in enumerate(arrays)}
            recorded |= {f"{name}/{run}/y{i}": y.numpy() for i, y in enumerate(results)}
    np.savez_compressed(Path(__file__).with_name("empty_loops.npz"), **recorded)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    main()
