"""Programs about values and sizes that stand for tensors, given `tf`.

What TensorFlow makes of them is stored in value_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

import warnings
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


@program
def gradients_of_loops(tf):
    """By what a loop only hands on, what no gradient reaches, and what one result alone reads."""

    def results(v, w, u):
        def constant(i, a, b):
            return i + 1, a, b * a

        def whole(i, a, b):
            return i + 1, a + tf.cast(tf.cast(v, tf.int32), tf.float32), b * w + a

        def apart(i, a, b, c):
            return i + 1, a * v, b * w + a, c * u + tf.stop_gradient(b)

        _, a, b = tf.while_loop(lambda i, *_: i < 4, constant, [0, v, w])
        yield [a, b, a + b]
        _, a, b = tf.while_loop(lambda i, *_: i < 4, whole, [0, 0.0, 1.0])
        yield [a, b, a + b]
        _, a, b, c = tf.while_loop(lambda i, *_: i < 4, apart, [0, 1.0, w, 2.0])
        yield [a, b, c, a + b, b + c]

    with tf.Graph().as_default(), tf.Session() as session:
        xs = [tf.placeholder(tf.float32, []) for _ in range(3)]
        feeds = dict(zip(xs, (2.0, 3.0, 1.0), strict=True))
        gradients = [tf.gradients(y, xs) for ys in results(*xs) for y in ys]
        return [
            [None if dx is None else float(session.run(dx, feeds)) for dx in row]
            for row in gradients
        ]


@program
def gradients_of_nested_loops(tf):
    """None where no gradient of a result of the loop inside comes, zeros where one stops."""

    def results(v, w, u):
        def turn(j, a, b, c):
            return j + 1, a * v, b + a, tf.stop_gradient(c) * 1.5

        def inside(i, *abc):
            return (i + 1, *tf.while_loop(lambda j, *_: j < 2, turn, [0, *abc])[1:])

        _, a, b, c = tf.while_loop(lambda i, *_: i < 3, inside, [0, 1.0, w, u])
        return [a, b, c, a + b]

    with tf.Graph().as_default(), tf.Session() as session:
        xs = [tf.constant(value) for value in (2.0, 3.0, 4.0)]
        gradients = [tf.gradients(y, xs) for y in results(*xs)]
        return [[None if dx is None else float(session.run(dx)) for dx in row] for row in gradients]


@program
def complex_numbers_fed(tf):
    """Complex numbers for real placeholders: what is imaginary is dropped, with a warning."""
    numbers = 1 + 2j, [3 - 1j, 2], np.complex64(4 + 1j), np.array([5j])
    with tf.Graph().as_default(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        xs = [tf.placeholder(dtype) for dtype in (tf.int32, tf.float32)]
        return [run(tf, [tf.identity(x)], {x: number}) for x in xs for number in numbers]


@program
def types_of_boxes(tf):
    """The types of boxes, scores and threshold that `non_max_suppression_padded` takes."""
    boxes = np.array([[0, 0, 2, 2], [0, 0, 2, 1], [3, 3, 5, 5]])
    scores = np.array([0.9, 0.8, 0.25])

    def chosen(box_type, score_type, **keywords):
        with tf.Graph().as_default():
            inputs = tf.constant(boxes, box_type), tf.constant(scores, score_type), 3
            padded = tf.image.non_max_suppression_padded(
                *inputs, pad_to_max_output_size=True, **keywords
            )
            return [value.tolist() for value in tf.Session().run(padded)]

    def refused(*types):
        try:
            return chosen(*types, score_threshold=0.5)
        except TypeError as error:
            return " ".join(str(error).split("TypeError: ")[-1].split())

    types = ("float64 float32", "int32 float32", "float16 float32", "float32 float32")
    rows = [chosen(*pair.split(), iou_threshold=0.4) for pair in types]
    return [*rows, refused("float64", "float64"), refused("float32", "float16")]


def _refusal(tf, session, fetch):
    """What is wrong with a run; nothing where it runs."""
    try:
        session.run(fetch)
    except tf.errors.InvalidArgumentError as error:
        return next(line for line in error.message.split("\n") if "Cannot" in line)
    return None


@program
def fed_texts(tf):
    """Strings come back as they were fed; in runs of several steps nothing may be both."""
    with tf.Graph().as_default(), tf.Session() as session:
        p = tf.placeholder(tf.string)
        values = ["a", b"a", ["a", "bb"], [[b"a"]], np.array(["a", "bb"]), np.array([b"c"]), []]
        fetched = [session.run(p, {p: value}) for value in values]
        x = tf.placeholder(tf.float32, [])
        try:
            steps = session.partial_run_setup([x, x * 2.0], [x])
            error = session.partial_run(steps, [x], {x: 2.0})
        except tf.errors.InvalidArgumentError as e:
            error = e.message.split("\n")[-1].replace(x.name, "x")
        kinds = [[type(item).__name__ for item in array.ravel()] for array in fetched]
        return [kinds, [array.shape for array in fetched], error]


@program
def windows_refused(tf):
    """What convolutions say of padding and dilation."""
    with tf.Graph().as_default():
        x, w = tf.ones([1, 8, 8, 1]), tf.ones([3, 3, 1, 1])
        paddings = [2, None, [1, 2, 3], [[0, 0], [1], [1, 1], [0, 0]]]
        calls = [lambda p=p: tf.nn.conv2d(x, w, 1, p) for p in paddings]
        calls.append(lambda: tf.nn.conv2d(x, w, 1, "SAME", dilations=0))
        norm = tf.math.reduce_euclidean_norm(tf.placeholder(tf.float32))
        return [[words(call) for call in calls], norm.shape.as_list()]


@program
def variables_behind_handles(tf):
    """Their shapes, writes of other shapes, and writes where another graph is the default."""
    outcomes = []
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable(np.zeros(2, "f"), validate_shape=False, use_resource=True)
        outcomes += [v.shape.as_list(), words(lambda: v.assign([1.0, 2.0, 3.0]))[0]]
        session.run(v.initializer)
        for shape in ((3,), (2, 1)):
            more = tf.placeholder_with_default(np.ones(shape, "f"), None)
            for write in (v.assign_add, v.assign_sub):
                outcomes.append(_refusal(tf, session, write(more)))
        outcomes.append(session.run(v.read_value_no_copy()).tolist())
    tf.reset_default_graph()
    v = tf.Variable(1.0, use_resource=True)
    graph = v.graph
    tf.reset_default_graph()
    outcomes.append([v.assign(2.0).graph is graph, v.assign(2.0, read_value=False).type])
    return outcomes


@program
def jobs_of_clusters(tf):
    """A session without a cluster has no other job than its own."""
    outcomes = []
    for device in ("/job:worker", "/job:ps/task:1", "/job:localhost", "/cpu:0"):
        with tf.Graph().as_default(), tf.Session() as session:
            with tf.device(device):
                x = tf.constant(1.0, name="x")
            outcomes.append(_refusal(tf, session, x))
    return outcomes


@program
def texts_with_zeros(tf):
    """Strings that end with zeros, element by element, in functions, batches and records."""

    def example(value):
        features = {"s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))}
        return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()

    with tf.Graph().as_default(), tf.Session() as session:
        texts, last = tf.constant(["ab", "\0\0", "c\0"]), tf.constant("d\0")
        one = {"s": tf.FixedLenFeature([], tf.string)}
        slices = tf.data.Dataset.from_tensor_slices(texts)
        padded = slices.map(lambda x: tf.string_split([x], "").values)
        datasets = [
            slices.map(lambda x: tf.py_func(lambda text: text + b"\0", [x], tf.string)).batch(3),
            slices.padded_batch(2, []),
            padded.padded_batch(2, [3], padding_values="p\0"),
        ]
        fetched = [
            tf.map_fn(lambda x: tf.strings.join([x, "z"]), texts),
            tf.map_fn(lambda x: tf.strings.length(x), texts, dtype=tf.int32),
            tf.scan(lambda a, x: a + x, texts),
            tf.foldr(lambda a, x: a + x, texts, initializer=last),
            tf.TensorArray(tf.string, 3).unstack(texts).read(1),
            tf.parse_single_example(example(b"\0" * 3), one)["s"],
            tf.decode_raw(tf.parse_single_example(example(b"\0" * 3), one)["s"], tf.uint8),
            tf.squeeze(tf.constant(["e\0"])),
            *tf.py_func(lambda a: [a + a, np.array([a], object)], [last], [tf.string] * 2),
            *tf.py_func(lambda a: [b"f\0", a], [texts], [tf.string] * 2),
            *(data.make_one_shot_iterator().get_next() for data in datasets),
        ]
        return [[str(v) for v in np.array(x, object).flat] for x in session.run(fetched)]


@program
def arguments_of_functions(tf):
    """Scalars come to functions as numbers of numpy and as bytes."""
    kinds = []

    def noted(*values):
        kinds.append([type(value).__name__ for value in values])
        return np.float32(0)

    with tf.Graph().as_default(), tf.Session() as session:
        values = [1.0, 2, "a", ["a"], True, [1.0], tf.constant(1j), []]
        session.run(tf.py_func(noted, values, tf.float32))
        session.run(tf.numpy_function(noted, values[:4], tf.float32))
        pairs = tf.data.Dataset.from_tensors((1.0, "a"))
        pairs = pairs.map(lambda x, y: tf.py_func(noted, [x, y], tf.float32))
        session.run(pairs.make_one_shot_iterator().get_next())
        return kinds


@program
def tables_in_loops(tf):
    """A table that a loop's function asks for stands outside of the loop, as its initializer."""

    def outside(x):
        contents = tf.lookup.KeyValueTensorInitializer(keys, values)
        return tf.lookup.StaticHashTable(contents, -1).lookup(x)

    def inside(x):
        contents = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
        return tf.lookup.StaticHashTable(contents, 0).lookup(x)

    with tf.Graph().as_default(), tf.Session() as session:
        keys, values = tf.constant([1, 2]), tf.constant([5, 10])
        numbers = tf.map_fn(outside, tf.constant([2, 4, 1]))
        texts = tf.map_fn(inside, tf.constant(["b", "c"]), dtype=tf.int32)
        session.run(tf.tables_initializer())
        return [session.run(numbers).tolist(), session.run(texts).tolist()]


@program
def seeds_behind_batches(tf):
    """The operations of batches, and the seed of what is drawn behind a one-shot iterator."""
    seeds = []
    for sizes in (None, [None]):
        with tf.Graph().as_default() as graph:
            tf.set_random_seed(1)
            data = tf.data.Dataset.from_tensors([1.0])
            data = data.batch(2) if sizes is None else data.padded_batch(2, sizes)
            data.make_one_shot_iterator().get_next()
            seeds.append([op.name for op in graph.get_operations()][2:])
            seeds.append(tf.random_uniform([]).op.get_attr("seed2"))
    return seeds
