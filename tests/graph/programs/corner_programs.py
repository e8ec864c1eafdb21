"""Programs of TF1 at corners where answers were wrong once: seeds of cells, shapes of unknown rank.

What TensorFlow makes of them is recorded in corner_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

import collections
import copy
import functools

import numpy as np

from .exchange_programs import each_in_a_graph, failure, plain


def _wrapped(tf, **arguments):
    """Outputs and last state of a cell with dropout, by the graph's seed and its own."""
    tf.set_random_seed(7)
    cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), **arguments)
    x = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3), tf.float32)
    with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.3)):
        outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32, parallel_iterations=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        values = [plain(np.round(session.run([outputs, state])[i], 5)) for i in (0, 1)]
    return values


def dropout_wrapper(tf):
    """Each of its dropouts has a seed of its own, made of its seed and a name."""
    return {
        "output": _wrapped(tf, output_keep_prob=0.5, seed=3),
        "all": _unrolled(
            tf, input_keep_prob=0.7, output_keep_prob=0.6, state_keep_prob=0.8, seed=5
        ),
        "variational": _unrolled(
            tf, input_keep_prob=0.7, output_keep_prob=0.6, state_keep_prob=0.8, seed=9,
            variational_recurrent=True, input_size=3, dtype=tf.float32,
        ),
    }  # fmt: skip


def _unrolled(tf, **arguments):
    """Two steps of a cell, one after the other."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(7)
        cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.LSTMCell(4), **arguments)
        state, values = cell.zero_state(2, tf.float32), []
        with tf.variable_scope("rnn", initializer=tf.constant_initializer(0.2)):
            for i in range(2):
                out, state = cell(tf.constant([[1.0, 2.0, 3.0], [i, 1.0, -1.0]]), state)
                values += [out, *state]
        session.run(tf.global_variables_initializer())
        return plain([np.round(value, 5) for value in session.run(values)])


def slices_of_unknown_rank(tf):
    """What is known of the shape of a part, where not even the rank of the whole is."""
    x = tf.placeholder(tf.float32)
    y = tf.placeholder(tf.float32, [None, 3])
    begin, size = tf.placeholder(tf.int32, [2]), tf.placeholder(tf.int32, [None])
    results = {
        "constant": tf.slice(x, [0, 1], [2, 2]),
        "to the end": tf.slice(x, [0, 1], [-1, 2]),
        "begin unknown": tf.slice(x, begin, [2, -1]),
        "size unknown": tf.slice(x, [0, 1], size),
        "both unknown": tf.slice(x, begin, size),
        "of some": tf.slice(y, [1, 1], [-1, -1]),
        "of some by begin": tf.slice(y, begin, [-1, 2]),
        "from a shape": tf.slice(x, [0, 0], tf.stack([tf.shape(y)[0], 2])),
        "strided": x[1:, ..., 2],
        "strided of new axes": x[tf.newaxis, 1, 2:],
    }
    feed = {x: np.arange(12.0).reshape(4, 3), y: np.ones((3, 3)), begin: [1, 0], size: [2, 1]}
    with tf.Session() as session:
        numbers = session.run(results, feed)
    return {
        "shapes": {name: str(tensor.shape) for name, tensor in results.items()},
        "values": {name: plain(value) for name, value in numbers.items()},
    }


def sparse_reshapes(tf):
    """Shapes and parts of sparse tensors in new shapes, some known before the run."""
    indices = [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0], [1, 2, 3]]
    fixed = tf.SparseTensor(indices, [1.0, 2.0, 3.0, 4.0, 5.0], [2, 3, 6])
    fed = tf.sparse_placeholder(tf.float32)
    ranked = tf.sparse_placeholder(tf.float32, shape=[None, 3, 6])
    wanted = tf.placeholder(tf.int64, [None])
    reshaped = {
        "fixed": tf.sparse_reshape(fixed, [9, 4]),
        "inferred": tf.sparse_reshape(fixed, [-1, 9]),
        "twice": tf.sparse_reshape(tf.sparse_reshape(fixed, [6, 6]), [3, -1]),
        "fed": tf.sparse_reshape(fed, [4, -1]),
        "fed shape": tf.sparse_reshape(fixed, wanted),
        "ranked": tf.sparse_reshape(ranked, [-1, 18]),
        "flat": tf.sparse_reshape(ranked, [-1]),
    }
    value = tf.SparseTensorValue(indices, np.arange(5.0), [2, 3, 6])
    with tf.Session() as session:
        parts = session.run(reshaped, {fed: value, ranked: value, wanted: [12, 3]})
    refused = {
        name: _refusal(tf, fixed, shape)
        for name, shape in (("size", [7, 7]), ("free", [-1, -1]), ("divisor", [-1, 7]))
    }
    known = ("fixed", "inferred", "twice")
    return {
        "shapes": {name: str(reshaped[name].shape) for name in known},
        "ranks": {name: tensor.shape.rank for name, tensor in reshaped.items()},
        "parts": {name: plain([*value]) for name, value in parts.items()},
        "refused": refused,
    }


def _refusal(tf, tensor, shape):
    try:
        with tf.Session() as session:
            session.run(tf.sparse_reshape(tensor, shape))
    except (ValueError, tf.errors.InvalidArgumentError) as error:
        return type(error).__name__
    return None


def images_of_unknown_rank(tf):
    """Crops and margins take one image for one; turned are several, too."""
    image, images = (
        tf.placeholder_with_default(np.ones(sizes, np.float32), None)
        for sizes in ((3, 5, 1), (2, 3, 5, 1))
    )
    offsets = tf.unstack(tf.constant([0, 1, 9, 9], tf.int64))
    results = {
        "crop": tf.image.crop_to_bounding_box(image, 0, 1, 2, 3),
        "pad": tf.image.pad_to_bounding_box(image, 1, 0, 8, 8),
        "pad_wide": tf.image.pad_to_bounding_box(np.ones((3, 5, 1), np.float32), *offsets),
        "resize_with_pad": tf.image.resize_image_with_pad(image, 8, 8),
        "crop_or_pad": tf.image.resize_image_with_crop_or_pad(image, 4, 8),
        "rot90": tf.image.rot90(images),
        "transpose": tf.image.transpose(images),
        "flip": tf.image.flip_left_right(image),
    }
    with tf.Session() as session:
        return {
            name: [result.shape.as_list() if result.shape.ndims else None, [*value.shape]]
            for (name, result), value in zip(
                results.items(), session.run([*results.values()]), strict=True
            )
        }


def images_refused(tf):
    """Boxes, ranks and sizes that cannot be; what is too large to count is not tried."""
    one, index, box = np.ones((1, 1, 1, 1), np.float32), np.zeros(1, np.int32), [[0.0, 0, 1, 1]]

    def crops(image=one, boxes=box, indices=index, size=(2, 2)):
        return lambda: tf.image.crop_and_resize(image, boxes, indices, size)

    calls = {
        "no_pixels": crops(np.ones((1, 0, 1, 1), np.float32)),
        "no_crop": crops(size=(2, 0)),
        "infinite": crops(boxes=[[np.inf, 0, 0, 0]]),
        "index": crops(indices=index + 1),
        "gamma": lambda: tf.image.adjust_gamma(np.ones((2, 2, 3), np.float32), tf.constant(-1.0)),
        "fill": lambda: tf.fill([2**20, 2**22, 2**22], 1.0),
        "broadcast": lambda: tf.broadcast_to(1.0, [2**31, 2**31, 4]),
        "uniform": lambda: tf.random_uniform([2**31, 2**31, 4]),
        "stateless": lambda: tf.random.stateless_uniform([2**31, 2**31, 2], [1, 2]),
    }
    words = {}
    for name, call in calls.items():
        with tf.Graph().as_default(), tf.Session() as session:
            words[name] = failure(tf, lambda call=call, run=session.run: run(call()))
    return words


def image_shape_words(tf):
    """What is said of images of too few or too many dimensions, and of no size of int32."""
    flat, deep = np.ones((3, 5), np.float32), np.ones((1, 1, 3, 5, 1), np.float32)
    scores = np.zeros((1, 1, 1), np.float32)
    calls = {
        "crop": lambda: tf.image.crop_to_bounding_box(flat, 0, 0, 1, 1),
        "crop_deep": lambda: tf.image.crop_to_bounding_box(deep, 0, 0, 1, 1),
        "pad": lambda: tf.image.pad_to_bounding_box(flat, 0, 0, 9, 9),
        "grayscale": lambda: tf.image.grayscale_to_rgb(tf.constant([1.0])),
        "boxes": lambda: tf.image.combined_non_max_suppression(
            scores[..., None] * np.zeros(4, np.float32), scores, 5, 2**31
        ),
    }
    return {name: _raised(call) for name, call in calls.items()}


def _raised(call, *arguments):
    """The type and the words of what is raised while a graph is built."""
    try:
        call(*arguments)
    except (TypeError, ValueError, NotImplementedError, LookupError) as error:
        return [type(error).__name__, str(error)]
    return None


def hue_gradient(tf):
    """By colours, ties and gray among them."""
    colors = [[0.1, 0.5, 0.3], [0.9, 0.2, 0.7], [0.3, 0.3, 0.3], [0, 0, 0], [0.4, 0.4, 0.1]]
    colors += [[0.1, 0.6, 0.6], [0.5, 0.2, 0.5], [0.2, 0.2, 0.7], [0.3, 0.8, 0.35], [0.1, 0.0, 1]]
    x = tf.constant(colors)
    weighted = tf.image.rgb_to_hsv(x) * [[1.0, 10.0, 100.0]]
    with tf.Session() as session:
        gradient = session.run(tf.gradients(weighted, x)[0])
    return {"gradient": np.round(gradient.astype(float), 3).tolist()}


EQUATIONS = {
    "letters": ("a0->a", (5, 3)),
    "two_arrows": ("a->a->a", (5,)),
    "new_label": ("ij,jk->im", (2, 3), (3, 4)),
    "label_twice": ("ij,jk->iik", (2, 3), (3, 4)),
    "rank": ("ij,jk->ik", (1, 2, 3), (3, 4)),
    "size": ("ij,jk->ik", (2, 3), (4, 4)),
    "no_dots": ("...ij,...jk->ik", (2, 2, 3), (3, 4)),
}


def refused_equations(tf):
    """Operands that do not fit the labels, when the graph is built and when it runs."""
    rows = {}
    for name, (equation, *shapes) in EQUATIONS.items():
        arrays = [np.ones(shape, np.float32) for shape in shapes]
        kind, words = _raised(tf.einsum, equation, *arrays)
        rows[name] = [kind, words.partition(" for '{{node")[0]]
        if name in ("rank", "size", "no_dots"):
            hidden = [tf.placeholder_with_default(x, None) for x in arrays]
            product = tf.einsum(equation, *hidden)
            with tf.Session() as session:
                rows[f"{name}_in_run"] = failure(tf, functools.partial(session.run, product))
    return rows


def gradients_without_feeds(tf):
    """What depends on the shape of a placeholder alone needs no value for it."""
    x = tf.placeholder(tf.float32, [1, 3, 3, 2])
    kernel = tf.constant(0.5, shape=[2, 2, 2, 1])
    by_x = tf.gradients(tf.nn.depthwise_conv2d(x, kernel, [1, 1, 1, 1], "SAME"), x)[0]
    with tf.Session() as session:
        sums = session.run(tf.gradients(tf.reduce_sum(x), x)[0])
        second = session.run(tf.gradients(by_x, kernel)[0])
    return {"sums": sums.tolist(), "second": second.tolist()}


def views_nest(tf):
    """Views of mappings count as sequences, and mappings with defaults stay such."""
    letters = {"a": 1, "b": 2}
    doubled = tf.nest.map_structure(lambda x: 2 * x, collections.defaultdict(list, letters))
    return {
        "keys": tf.nest.flatten(letters.keys()),
        "items": tf.nest.flatten(letters.items()),
        "nested": tf.nest.is_nested(letters.values()),
        "defaults": [type(doubled).__name__, dict(doubled)],
    }


def placeholders_of_old_graphs(tf):
    """Up to version 21 a scalar placeholder meant one of any shape."""
    ranks = {}
    for producer in (21, 22):
        message = tf.GraphDef()
        node = message.node.add(name="x", op="Placeholder")
        node.attr["dtype"].type = 1
        node.attr["shape"].shape.SetInParent()
        message.versions.producer = producer
        with tf.Graph().as_default():
            (x,) = tf.import_graph_def(message, return_elements=["x:0"])
        ranks[str(producer)] = x.shape.ndims
    return ranks


def png_sizes(tf):
    """Bytes of files: each row has the filter that makes it smallest."""
    rows, columns = np.indices((40, 50))
    colors = np.stack([rows, columns, (rows + columns) >> 1], -1).astype(np.uint8)
    gray = np.random.RandomState(0).randint(0, 9, (64, 64, 1)).astype(np.uint8)
    deep = (rows * 1000 + columns)[..., None].astype(np.uint16)
    with tf.Session() as session:
        files = session.run([tf.image.encode_png(x, 7) for x in (colors, gray, deep)])
        decoded = session.run([tf.image.decode_png(file) for file in files[:2]])
    assert np.array_equal(decoded[0], colors)
    assert np.array_equal(decoded[1], gray)
    return {"bytes": [len(file) for file in files]}


def refused_operands(tf):
    """Kernels' and shape functions' words."""
    x = tf.placeholder(tf.int32)
    parts = tf.split(np.zeros([5, 30]), tf.constant([4, 11, 15]), axis=x)
    indices = tf.constant([[1, 2], [5, 0]], tf.int64)
    sets = tf.SparseTensor(indices, [1, 1], tf.constant([3, 4], tf.int64))
    with tf.Session() as session:
        return {
            "parallel": _raised(lambda: tf.raw_ops.ParallelConcat(shape=0, values=[1])),
            "transpose": _raised(
                lambda: tf.nn.conv2d_transpose(
                    np.ones((2, 2, 2, 2)), np.ones((1, 1, 1, 1)), [2, 20, 20, 1], strides=10
                )
            ),
            "rank": failure(tf, lambda: session.run(tf.reshape([[1]], tf.ones([254], tf.int64)))),
            "axis": failure(tf, lambda: session.run(parts, {x: np.array([], np.int32)})),
            "sets": failure(tf, lambda: session.run(tf.sets.size(sets, validate_indices=False)))[1][
                11:
            ],
            "copy": _raised(lambda: copy.deepcopy(tf.Variable(1.0, use_resource=True))),
        }


def split_in_one(tf):
    """The gradients of splits with a single part, and the constant of a default's name."""
    x = tf.placeholder_with_default(np.float32([[1, 2], [3, 4]]), [None, 2], name="x")
    parts = [tf.split(x, 1, 1)[0], tf.split(x, [2], 1)[0]]
    grads = [tf.gradients(part * part, x)[0] for part in parts]
    with tf.Session() as session:
        values = [value.tolist() for value in session.run(grads)]
    return {"values": values, "input": x.op.inputs[0].name}


def refused_layers(tf):
    """Layers' words; those of unknown rank that are taken."""
    image, unknown = tf.zeros([1, 8, 8, 1]), tf.placeholder(tf.float32)
    layers = tf.layers
    return {
        "rank": _raised(lambda: layers.dense(unknown, 3)),
        "norm": _raised(lambda: layers.batch_normalization(unknown)),
        "pooled": layers.max_pooling2d(unknown, 2, 2).shape.as_list(),
        "flat": layers.flatten(unknown).shape.as_list(),
        "window": _raised(lambda: layers.conv2d(image, 3, (1, 0))),
        "strides": _raised(lambda: layers.conv2d(image, 3, 1, strides=0)),
        "gaps": _raised(lambda: layers.conv2d(image, 3, 1, dilation_rate=0)),
        "pool": _raised(lambda: layers.max_pooling2d(image, -1, 1)),
        "word": _raised(lambda: layers.Conv2D(3, 2, bad=1)),
        "integers": _raised(lambda: layers.dense(tf.constant([[1]]), 2)),
    }


def getters_called(tf):
    """What custom getters get, and which of two is called; the name of a variable's parts."""
    calls = []

    def getter(which):
        def called(getter, name, **arguments):
            calls.append([which, name, arguments["trainable"], sorted(arguments)])
            return getter(name, **arguments)

        return called

    def by_position(getter, name, shape, dtype, initializer, regularizer, reuse, trainable,
                    collections, caching_device, partitioner, validate_shape, use_resource,
                    synchronization, aggregation):  # fmt: skip
        calls.append(["positions", name, trainable, list(shape)])
        return getter(name=name, shape=shape, dtype=dtype, trainable=trainable)

    with tf.variable_scope("scope", custom_getter=getter("outer")):
        tf.get_variable("a", [2])
        tf.get_variable("b", [2], custom_getter=getter("inner"))
        with tf.variable_scope("nested", custom_getter=getter("nested")):
            tf.get_variable("c", [2], trainable=False)
    tf.get_variable("d", [2], custom_getter=by_position)
    parts = tf.create_partitioned_variables([5, 2], [2, 1], tf.ones_initializer(), name="parts")
    return {"calls": calls, "parts": [part.name for part in parts]}


def window_names(tf):
    """Names of what windows and sums give, and the words of pools and schedules."""
    x, step = tf.zeros([2, 6, 7, 3]), tf.placeholder(tf.int64, [])
    ones = [1, 1, 1, 1]
    with tf.get_default_graph().gradient_override_map({"Exp": "NoSuchGradient"}):
        overridden = tf.exp(x)
    mean = tf.zeros([3])
    return {
        "erosion": tf.nn.erosion2d(x, tf.zeros([2, 2, 3]), ones, ones, "SAME").name,
        "pool": tf.nn.pool(x, [2, 3], "MAX", "VALID", dilation_rate=[2, 1]).name,
        "mean": tf.nn.pool(x, [2, 3], "AVG", "SAME").name,
        "norm": tf.nn.batch_normalization(x, mean, mean, mean, mean, 0.1).op.inputs[0].name,
        "kind": _raised(lambda: tf.nn.pool(x, [2, 3], "SUM", "SAME")),
        "steps": _raised(lambda: tf.nn.pool(x, [2, 3], "MAX", "SAME", None, [3, 1])),
        "both": _raised(lambda: tf.nn.pool(x, [2, 3], "MAX", "SAME", [2, 1], [2, 1])),
        "decay": tf.train.natural_exp_decay(0.1, step, 10, 0.5).name,
        "boundaries": _raised(lambda: tf.train.piecewise_constant(step, [1.5], [1.0, 2.0])),
        "values": _raised(lambda: tf.train.piecewise_constant(step, [1], [1.0, 2])),
        "overridden": _raised(lambda: tf.gradients(overridden, x))[1][:33],
    }


def named_results(tf):
    """The fields of what functions with several results give."""
    x, image = tf.ones([4, 4]), tf.ones([1, 6, 6, 3])
    classes, ratios = tf.constant([[1]], tf.int64), [1.0, 1.5, 1.5, 1.0]
    box = tf.zeros([1, 2, 1, 4])
    queue = tf.FIFOQueue(1, tf.string)
    codes = tf.quantize(x, 0.0, 1.0, tf.quint8)
    results = {
        "unique": tf.unique([1, 1]),
        "counts": tf.unique_with_counts([1, 1]),
        "difference": tf.setdiff1d([1], [2]),
        "qr": tf.linalg.qr(x),
        "lu": tf.linalg.lu(x),
        "determinant": tf.linalg.slogdet(x),
        "places": tf.nn.max_pool_with_argmax(image, [1, 2, 2, 1], [1, 1, 1, 1], "SAME"),
        "fractional": tf.nn.fractional_max_pool(image, ratios),
        "means": tf.nn.fractional_avg_pool(image, ratios),
        "uniform": tf.nn.uniform_candidate_sampler(classes, 1, 2, True, 5),
        "learned": tf.nn.learned_unigram_candidate_sampler(classes, 1, 2, True, 5),
        "hits": tf.nn.compute_accidental_hits(classes, tf.constant([1], tf.int64), 1),
        "codes": codes,
        "joined": tf.quantized_concat(0, [codes.output] * 2, [0.0, 0.0], [1.0, 1.0]),
        "boxes": tf.image.sample_distorted_bounding_box([6, 6, 3], tf.zeros([1, 1, 4])),
        "kept": tf.image.combined_non_max_suppression(box, tf.zeros([1, 2, 1]), 2, 2),
        "largest": tf.math.approx_max_k(x, 2),
        "read": tf.TextLineReader().read(queue),
        "read_up_to": tf.TextLineReader().read_up_to(queue, 2),
    }
    fields = {name: list(result._fields) for name, result in results.items()}
    plain = tf.nn.fused_batch_norm(image, tf.ones([3]), tf.ones([3]))
    return fields | {"norm": type(plain).__name__}


def ignored_indices(tf):
    """The gradient of elements of which some lie outside and are zeros."""
    variable = tf.Variable(tf.ones([3]), use_resource=True)
    slices = tf.gather_nd(variable, [[[0]], [[-1]]], bad_indices_policy="IGNORE")
    gradient = tf.convert_to_tensor(tf.gradients(slices, variable)[0])
    with tf.Session() as session:
        session.run(variable.initializer)
        return {"gradient": session.run(gradient).tolist()}


def sorted_axes(tf):
    """How an axis of a known rank comes last: by a constant."""
    x = tf.placeholder(tf.float32, [None, 3, None])
    order = tf.sort(x, axis=1)
    graph = tf.get_default_graph()
    places = graph.get_tensor_by_name("sort/transposition:0").op
    with tf.Session() as session:
        values = session.run(order, {x: np.float32([[[3], [1], [2]]])})
    return {"type": places.type, "sorted": values.tolist()}


def padded_flags(tf):
    """Diagonals of Booleans between numbers."""
    flags = tf.constant([[True, False]])
    parts = tf.matrix_diag_part(tf.matrix_diag(flags), k=(0, 1), padding_value=7)
    with tf.Session() as session:
        return {
            "square": session.run(tf.matrix_diag(flags, padding_value=555)).tolist(),
            "parts": session.run(parts).tolist(),
        }


class _Known:
    """What adds itself to a tensor."""

    def __radd__(self, other):
        return f"{other.name} and it"


class _Refusing:
    def __radd__(self, other):
        raise TypeError("not that one")


class _Leaving:
    def __radd__(self, other):
        return NotImplemented


def error_of(function):
    """The type and the words of the error that a function raises."""
    try:
        function()
    except (TypeError, ValueError) as error:
        return [type(error).__name__, str(error)]
    return None


def words_of_types(tf):
    """Types in texts, and what refuses them."""
    x, i = tf.constant([1.0]), tf.constant([1])
    number = tf.Variable(1.5)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    return {
        "bits": [(i & i).name, (i | 2).name, (3 ^ i).name, (~i).name],
        "texts": [f"{tf.float32}", f"{x.dtype}", f"{tf.string!r}"],
        "assert": error_of(lambda: tf.debugging.assert_integer(x)),
        "hot": error_of(lambda: tf.one_hot([0], 2, 1.0, 0.0, dtype=tf.int32)),
        "uniform": error_of(lambda: tf.random_uniform([2], dtype=tf.string)),
        "minimum": error_of(lambda: tf.saturate_cast(tf.constant(["a"]), tf.int8)),
        "loss": error_of(lambda: optimizer.compute_gradients(tf.constant(1), [number])),
        "invert": error_of(lambda: ~x),
    }


def other_sides(tf):
    """A sum whose other side is no tensor, with an operator of its own or without."""
    x = tf.constant([1.0])
    refused = {kind.__name__: error_of(lambda k=kind: x + k()) for kind in (_Refusing, _Leaving)}
    leading = {name: [kind, words[:40]] for name, (kind, words) in refused.items()}
    return {"sum": x + _Known(), **leading}


def shapes_of_texts(tf):
    """What is no shape."""

    def filled(sizes):
        return tf.fill(sizes, 0)

    return {
        "text": error_of(lambda: tf.TensorShape("abc")),
        "dict": error_of(lambda: tf.TensorShape({"a": 1})),
        "array": error_of(lambda: tf.TensorShape(np.array([1.5, 2.0]))),
        "list": error_of(lambda: tf.TensorShape([1, "a"])),
        "placeholder": error_of(lambda: tf.placeholder(tf.float32, "abc")),
        "default": error_of(lambda: tf.placeholder_with_default(1.0, [2, -3])),
        "sizes below": [
            error_of(lambda make=make: make([2, -3]))[1][:42] for make in (tf.zeros, filled)
        ],
        "sizes": tf.TensorShape(np.array([1, 2])).as_list(),
    }


def ranks_of_metrics(tf):
    """Metrics of one row that is no matrix."""
    row = tf.constant([0.1, 0.2])
    metrics = (tf.metrics.recall_at_k, tf.metrics.precision_at_k)
    words = [error_of(lambda m=metric: m(np.int64([1]), row, 1)) for metric in metrics]
    return {"words": [[kind, text[:43]] for kind, text in words]}


PROGRAMS = (
    *(words_of_types, other_sides, shapes_of_texts, ranks_of_metrics),
    padded_flags,
    *(named_results, ignored_indices, sorted_axes),
    *(refused_layers, getters_called, window_names),
    split_in_one,
    *(refused_equations, gradients_without_feeds, views_nest, placeholders_of_old_graphs),
    *(png_sizes, refused_operands),
    *(dropout_wrapper, slices_of_unknown_rank, sparse_reshapes, images_of_unknown_rank),
    *(images_refused, image_shape_words, hue_gradient),
)


def outcomes(tf):
    """What each program gives in a graph that it has to itself."""
    return each_in_a_graph(tf, PROGRAMS)
