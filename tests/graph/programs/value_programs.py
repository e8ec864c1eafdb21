"""Programs about values and sizes that stand for tensors, given `tf`.

What TensorFlow makes of them is stored in value_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def run(tf, fetches, feeds=None):
    """What a new Session gives."""
    with tf.Session() as session:
        return [value.tolist() for value in session.run(fetches, feeds)]


def words(call):
    """The type of an error and its first words."""
    try:
        return ["nothing", str(call())]
    except (TypeError, ValueError) as error:
        return [type(error).__name__, " ".join(str(error).split()[:6])]


@program
def indices_of_int64(tf):
    """Bounds of slices that are tensors of int64, beside numbers and int32."""
    with tf.Graph().as_default():
        x, i, j = tf.constant([1, 2, 3, 4]), tf.constant(1, tf.int64), tf.constant(3)
        parts = [x[i], x[i:], x[:i], x[i : tf.constant(3, tf.int64) : 2], x[::i], x[j]]
        return [run(tf, parts), [part.op.inputs[1].dtype.name for part in parts]]


@program
def windows_as_tensors(tf):
    """The window of a dilated convolution as a tensor."""
    with tf.Graph().as_default():
        x = tf.reshape(tf.range(24.0), [1, 4, 6, 1])
        filters = tf.reshape(tf.range(6.0), [2, 3, 1, 1])

        def dilated(filter_shape):
            def convolved(converted, n_spatial_dims, padding):
                return tf.nn.conv2d(converted, filters, [1, 1, 1, 1], padding)

            return tf.nn.with_space_to_batch(x, [2, 2], "SAME", convolved, filter_shape)

        return run(tf, [dilated(tf.shape(filters)), dilated([2, 3])])


@program
def sizes_as_tensors(tf):
    """Shapes and dimensions where tensors are taken."""
    with tf.Graph().as_default():
        shape = tf.TensorShape([2, 3])
        tensors = [
            tf.convert_to_tensor(shape),
            tf.convert_to_tensor(tf.TensorShape([])),
            tf.convert_to_tensor(tf.Dimension(3)),
            tf.convert_to_tensor(shape, tf.int64),
            tf.concat([shape, [4]], 0),
            tf.constant(1) + tf.Dimension(3),
        ]
        errors = [
            words(lambda: tf.convert_to_tensor(tf.TensorShape([None, 3]))),
            words(lambda: tf.convert_to_tensor(tf.Dimension(None))),
        ]
        return [run(tf, tensors), [x.dtype.name for x in tensors], errors]


@program
def large_sizes(tf):
    """Sizes beyond int32."""
    with tf.Graph().as_default():
        x = tf.reshape(tf.placeholder(tf.float32), [50000**2, -1])
        return [x.get_shape().as_list(), x.op.inputs[1].dtype.name]


@program
def products_over_unknown_sizes(tf):
    """tensordot where sizes come with the run."""
    with tf.Graph().as_default():
        a = tf.placeholder(tf.float32, [None, 3, None])
        b = tf.placeholder(tf.float32, [3, None, 4])
        products = [
            tf.tensordot(a, b, [[1], [0]]),
            tf.tensordot(a, b, [[2, 1], [1, 0]]),
            tf.tensordot(a, tf.ones([2, 5]), 1),
            tf.tensordot(a, b, 0),
        ]
        feeds = {
            a: np.arange(12.0).reshape(2, 3, 2),
            b: np.arange(24.0).reshape(3, 2, 4) / 10.0,
        }
        shapes = [x.get_shape().as_list() for x in products]
        return [[np.round(x, 3).tolist() for x in run(tf, products, feeds)], shapes]


@program
def gradients_of_parts(tf):
    """Of rows at index tuples the rows, of single elements all."""
    with tf.Graph().as_default():
        x = tf.ones([3, 2])
        rows = tf.gradients(tf.gather_nd(x, [[0], [2]]) * 2.0, x)[0]
        elements = tf.gradients(tf.gather_nd(x, [[0, 1], [2, 0]]) * 3.0, x)[0]
        parts = [rows.values, rows.indices, tf.convert_to_tensor(rows), elements]
        return [type(rows).__name__, run(tf, parts)]


def _constant(tf, value, shape):
    """The type, value and shape of a constant, or what is wrong with it."""
    try:
        x = tf.constant(value, shape=shape)
    except ValueError as error:
        return [str(error)]
    with tf.Session() as session:
        return [x.dtype.name, np.asarray(session.run(x)).astype(str).tolist(), x.shape.as_list()]


@program
def constants_without_elements(tf):
    """Values for which a shape has no place, or more places than they have elements."""
    values = ([], 1, [[]], True, np.zeros((0, 2)), np.float32([1]))
    shapes = ([2], [0], [2, 0], [], [-1], [1, 1])
    with tf.Graph().as_default():
        return [[_constant(tf, value, shape) for shape in shapes] for value in values]


@program
def names_of_constants(tf):
    """What is no name is refused."""
    with tf.Graph().as_default():
        rows = []
        for name in ("", "a b", "_a", "/a"):
            for make in (lambda n: tf.constant(1, name=n), lambda n: tf.zeros([2], name=n).op.name):
                kind, text = words(lambda make=make, name=name: make(name))
                rows.append([kind, text.split(" Accepted")[0]])
        return rows


@program
def fed_and_fetched(tf):
    """What is fed comes back as an array, what is computed as a number."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.int32)
        fed, computed, nested = session.run([x, x + 1, {"a": x}], {x: 3})
        values = (fed, computed, nested["a"], x.eval({x: 3}))
        return [[type(value).__name__, value.tolist()] for value in values]


@program
def sizes_of_sparse_tensors(tf):
    """A size of -1 is unknown."""
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 2]], [1], [-1, 5])
        dense = tf.sparse.to_dense(sparse)
        fed = tf.sparse_placeholder(tf.float32, [-1, 5])
        slices = tf.IndexedSlices(tf.constant([1]), tf.constant([0]), tf.constant([-1]))
        tensors = (sparse, tf.sparse.reorder(sparse), dense, fed, slices)
        return [tensor.shape.as_list() for tensor in tensors]


@program
def parts_of_variables(tf):
    """Slices of what is partitioned, what partitioners say, and what variables have."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", [5, 4], partitioner=tf.fixed_size_partitioner(2))
        r = tf.get_variable("r", [2], use_resource=True)
        unlimited = tf.variable_axis_size_partitioner(64, max_shards=0)
        return [
            *([part._get_save_slice_info().spec, part._save_slice_info.full_name] for part in v),
            *(str(v.dtype), unlimited(shape=tf.TensorShape([100, 2]), dtype=tf.float32)),
            *(r.create.name, r.assign([1.0, 2.0]).initializer),
            isinstance(tf.Dimension(3), Hashable),
        ]


@program
def text_in_collections(tf):
    """Names that a graph is read under are put before any text; the saver is of these names."""
    with tf.Graph().as_default():
        tf.get_variable("v", [2])
        tf.add_to_collection("mine", "a text")
        message = tf.train.export_meta_graph()
    rows = []
    for scope, inner in ((None, "imp"), ("x", None), ("x", "imp")):
        with tf.Graph().as_default(), tf.name_scope(scope):
            saver = tf.train.import_meta_graph(message, import_scope=inner)
            rows.append([type(saver).__name__, tf.get_collection("mine")])
    return rows


@program
def places_of_gates(tf):
    """What waits stands where its tensor stands."""
    with tf.Graph().as_default():
        with tf.device("/job:ps"):
            v = tf.get_variable("v", [1], use_resource=False)
        with tf.device("/job:worker/device:GPU:1"):
            gate = tf.tuple([v.value()])[0]
        return [gate.device, [group.decode() for group in gate.op.colocation_groups()]]


@program
def branches_without_results(tf):
    """Branches return one result at least."""
    with tf.Graph().as_default():
        results = ([], (), None)
        calls = [lambda r=r: tf.cond(tf.constant(True), lambda: r, lambda: r) for r in results]
        return [words(call) for call in calls]


def outcomes(tf):
    """What each program gives."""
    return {function.__name__: function(tf) for function in PROGRAMS}
