"""Programs of TF1's graph API, given `tf`: what TensorFlow gives is stored in core_programs.json.

Each gives what JSON can hold.
"""

from __future__ import annotations

import copy
import os
import pickle
import tempfile

import numpy as np
from place_programs import PROGRAMS, error, places, program


@program
def graph_facts(tf):
    """Counts, names and messages of a graph."""
    with tf.Graph().as_default() as graph:
        a = tf.constant(1.0, name="a")
        with tf.name_scope("outer"), graph.name_scope("inner"):
            scope = graph.get_name_scope()
        with graph.container("box"):
            v = tf.Variable(1.0)
        graph.add_to_collection("k", 1)
        graph.add_to_collection(("not", "text"), 1)
        op_def = a.op.op_def
        graph.prevent_feeding(a)
        graph.prevent_fetching(v.op)
        with tf.Session() as session:
            errors = [error(lambda: session.run(v.initializer, {a: 2.0}))]
            errors.append(
                error(lambda: session.run(v))[0] in ("ValueError", "InaccessibleTensorError")
            )
        graph.finalize()
        return {
            "scope": scope,
            "container": v.op.get_attr("container").decode(),
            "keys": sorted(graph.get_all_collection_keys()),
            "has": ["k" in graph.collections, ("not", "text") in graph.collections],
            "op_def": [op_def.name, len(op_def.input_arg), [a.name for a in op_def.output_arg]],
            "node_def": [a.op.node_def.name, a.op.node_def.op, list(v.initializer.node_def.input)],
            "values": [t.name for t in a.op.values()],
            "feedable": [graph.is_feedable(a), graph.is_feedable(v.value())],
            "fetchable": [graph.is_fetchable(a), graph.is_fetchable(v.op)],
            "producer": graph.graph_def_versions.producer,
            "building": graph.building_function,
            "errors": [*errors, error(lambda: graph.add_to_collection("k", 2))],
        }


@program
def tensors_are_no_arrays(tf):
    """What programs mistake tensors for."""
    with tf.Graph().as_default():
        x, y = tf.constant([1]), tf.constant(["a"])
        return [
            error(lambda: np.array(x))[0],
            error(lambda: x.T)[0],
            error(lambda: tf.convert_to_tensor(tf.no_op())),
            error(lambda: y & y)[0],
            error(lambda: tf.constant([1.0]) | x)[0],
            error(lambda: ~y)[0],
        ]


@program
def tensor_protos(tf):
    """Messages of values."""
    values = {
        "float": (1.5,),
        "list": ([10, 20, 30],),
        "typed": ([10, 20], tf.float32),
        "repeated": ([1, 2], None, [3, 4]),
        "bool": ([True, False],),
        "half": (np.float16([1, 2]),),
        "one half": (np.float16([1]),),
        "complex": ([1 + 2j, 3],),
        "strings": (["a", b"b", "\u00e9"],),
        "texts": (np.array(["a", "bc"]),),
        "large": (2**40,),
        "empty": (np.zeros([0, 2], np.float32),),
        "uint32": (np.uint32([7, 8]),),
        "quantized": ([(21,), (22,)], tf.qint32),
        "dimensions": ([1, tf.Dimension(2)], tf.int32),
    }
    protos = {}
    for name, arguments in values.items():
        message = tf.make_tensor_proto(*arguments)
        protos[name] = str(message)
        array = tf.make_ndarray(message)
        listed = str(array.tolist())
        protos[f"{name} again"] = [array.dtype.kind, list(array.shape), listed]
    refused = {
        "too many": lambda: tf.make_tensor_proto([1, 2], shape=[1]),
        "shape": lambda: tf.make_tensor_proto([1, 2, 3, 4], shape=[1, 2], verify_shape=True),
        "broadcast": lambda: tf.make_tensor_proto([1, 2, 3], shape=[2], allow_broadcast=True),
        "quantized": lambda: tf.make_tensor_proto(3, dtype=tf.qint8),
        "none": lambda: tf.make_tensor_proto(None),
        "tensor": lambda: tf.make_tensor_proto(tf.constant(1.0)),
    }
    return protos | {name: error(call) for name, call in refused.items()}


@program
def static_values(tf):
    """What is known before anything runs, and can be fed no more."""
    with tf.Graph().as_default() as graph:
        p = tf.placeholder(tf.int32, [])
        known = {
            "constant": tf.constant([1, 2]),
            "range": tf.range(3),
            "fill": tf.fill([2, 2], 3),
            "cast": tf.cast([1, 2], tf.float32),
            "rank": tf.rank(tf.placeholder(tf.float32, [2, None])),
            "concat": tf.concat([[1], [2]], 0),
            "unstack": tf.unstack([1, 2])[1],
            "split": tf.split([1, 2], 2)[0],
            "placeholder": p,
        }
        values = {}
        for name, tensor in known.items():
            value = tf.get_static_value(tensor)
            values[name] = [str(None if value is None else np.asarray(value).tolist())]
            values[name].append(graph.is_feedable(tensor))
        stacked = tf.get_static_value(tf.stack([1, p, 3]), partial=True)
        values["stack"] = [None if item is None else int(item) for item in stacked]
        rows = tf.stack([np.ones([2], np.float32), tf.placeholder(tf.float32)])
        values["rows"] = [
            None if row is None else row.tolist() for row in tf.get_static_value(rows, partial=True)
        ]
        values["is_tensor"] = [
            tf.is_tensor(item)
            for item in (
                1,
                np.zeros(2),
                p,
                tf.Variable(1.0),
                p.op,
                tf.SparseTensor([[0]], [1], [1]),
            )
        ]
        values["variable"] = tf.get_static_value(tf.Variable(1.0))
        return values


@program
def imported(tf):
    """Names, devices and errors of import_graph_def."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.device("/job:ps"):
            y = tf.identity(x, name="y")
        with graph.colocate_with(y.op):
            tf.negative(y, name="z")
    message = graph.as_graph_def()
    outcomes = {}
    with tf.Graph().as_default() as graph:
        for name in ("", "", "y", "y/", "y/"):
            z, _ = tf.import_graph_def(message, return_elements=["z:0", "y"], name=name)
            outcomes.setdefault("names", []).append(z.name)
        with tf.device("/job:worker/task:0"):
            tf.import_graph_def(message, {b"x": tf.ones([2])}, name="mapped")
        outcomes["places"] = {k: v for k, v in places(graph).items() if k.startswith("mapped")}
        calls = {
            "operation": {"return_elements": ["q"]},
            "tensor": {"return_elements": ["q:0"]},
            "output": {"return_elements": ["z:1"]},
            "name": {"return_elements": ["a:b:c"]},
            "not mapped": {"input_map": {"none:0": tf.constant(1.0)}},
            "type": {"input_map": {"x:0": tf.constant(1)}},
            "values": {"input_map": {"x:0": np.float32([1, 2])}, "name": ""},
        }
        outcomes["errors"] = {
            name: error(lambda arguments=arguments: tf.import_graph_def(message, **arguments))
            for name, arguments in calls.items()
        }
        outcomes["kinds"] = [
            error(lambda: tf.import_graph_def(message, input_map=[1]))[0],
            error(lambda: tf.import_graph_def(message, return_elements=[7]))[0],
        ]
        message.versions.producer = 27
        message.versions.min_consumer = 12
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message)
        outcomes["versions"] = [
            graph.graph_def_versions.producer,
            graph.graph_def_versions.min_consumer,
        ]
        message.versions.min_consumer = 1 << 30
        outcomes["new"] = error(lambda: tf.import_graph_def(message))
        del message.node[1]
        message.versions.min_consumer = 0
        outcomes["neighbour"] = error(lambda: tf.import_graph_def(message, {"y:0": tf.ones([2])}))
    return outcomes


@program
def templates(tf):
    """Variables that are made in the first call and found in others."""

    def scale(x, trainable=True):
        return x * tf.get_variable("w", [], initializer=tf.ones_initializer(), trainable=trainable)

    def adds(x):
        return x * tf.Variable(2.0)

    with tf.Graph().as_default():
        a, b = tf.make_template("s", scale), tf.make_template("s", scale, trainable=False)
        names = [a(1.0).name, a(1.0).name, b(1.0).name]
        with tf.variable_scope("outer"):
            now = tf.make_template("t", scale, create_scope_now_=True)
            unique = tf.make_template("_", scale, unique_name_="own")
        names += [now(2.0).name, unique(2.0).name, now.variable_scope.name]
        bad = tf.make_template("bad", adds)
        bad(1.0)
        return {
            "names": names,
            "variables": [v.name for v in tf.global_variables()],
            "of": [len(t.trainable_variables) for t in (a, b, now, unique)],
            "other": [len(b.non_trainable_variables), len(b.variables), b.variable_scope_name],
            "errors": [
                error(lambda: bad(1.0))[0],
                error(lambda: tf.make_template(None, scale)),
            ],
        }


@program
def partial_runs(tf):
    """Runs in several steps."""
    with tf.Graph().as_default(), tf.Session() as session:
        a, b, c = (tf.placeholder(tf.float32, [], name=name) for name in "abc")
        first = tf.add(a, b, name="first")
        second = tf.multiply(first, c, name="second")
        v = tf.Variable(0.0, name="v")
        session.run(v.initializer)
        counted = tf.assign_add(v, 1.0) + a
        later = counted * b
        outcomes = [error(lambda: session.partial_run("foo", first, {a: 1, b: 2}))]
        handle = session.partial_run_setup([first, second], [a, b, c])
        outcomes.append(float(session.partial_run(handle, first, {a: 1, b: 17})))
        outcomes.append(error(lambda: session.partial_run(handle, first, {c: 1})))
        handle = session.partial_run_setup([first, second], [a, b, c])
        session.partial_run(handle, first, {a: 1, b: 17})
        outcomes.append(error(lambda: session.partial_run(handle, second, {a: 1, c: 1})))
        handle = session.partial_run_setup([first, second], [a, b, c])
        session.partial_run(handle, first, {a: 1, b: 17})
        outcomes.append(float(session.partial_run(handle, second, {c: 2})))
        outcomes.append(error(lambda: session.partial_run(handle, second)))
        handle = session.partial_run_setup([first], [a, b])
        outcomes.append(error(lambda: session.partial_run(handle, second, {a: 1, b: 17})))
        handle = session.partial_run_setup([first, second], [a, b, c])
        outcomes.append(error(lambda: session.partial_run(handle, first, {a: 1})))
        handle = session.partial_run_setup([counted, later], [a, b])
        outcomes.append(float(session.partial_run(handle, counted, {a: 0})))
        outcomes.append(float(session.partial_run(handle, later, {b: 3})))
        outcomes.append(float(session.run(v)))
        outcomes.append(error(lambda: session.partial_run_setup([])))
        return outcomes


@program
def sessions(tf):
    """Options, devices and feeds of a Session."""
    config = tf.ConfigProto(device_count={"CPU": 2}, allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        c = tf.constant(42.0, name=b"c")
        slices = tf.IndexedSlices(tf.placeholder(tf.float32, [2]), tf.placeholder(tf.int64, [2]))
        parts = [tf.identity(slices.values), tf.identity(slices.indices)]
        value = np.float32([1, 2]), np.int64([3, 4])
        sparse = tf.sparse_placeholder(tf.float32, [3, 4], name="sp")
        total = tf.sparse_reduce_sum(sparse)
        fed = {sparse: (np.int64([[0, 1]]), np.float32([5]))}
        metadata = tf.RunMetadata()
        options = tf.RunOptions(output_partition_graphs=True)
        session.run(c, options=options, run_metadata=metadata)
        return {
            "devices": sorted(device.name for device in session.list_devices()),
            "bytes": float(session.run(b"c:0")),
            "slices": [part.tolist() for part in session.run(parts, {slices: value})],
            "sparse": [float(session.run(total, fed)), sparse.shape.as_list()],
            "graphs": len(metadata.partition_graphs) > 0,
            "reshape": error(
                lambda: session.run(tf.reshape(parts[0], tf.constant([3]) + 4), {slices: value})
            )[0],
        }


@program
def shapes(tf):
    """Shapes and dimensions as objects."""
    known, part = tf.TensorShape([2, 3]), tf.TensorShape([None, 3])
    twelve = tf.Dimension(12)
    message = part.as_proto()
    return {
        "proto": [[dim.size for dim in message.dim], tf.TensorShape(message).as_list()],
        "unknown": tf.TensorShape(None).as_proto().unknown_rank,
        "common": known.most_specific_compatible_shape([1, 3]).as_list(),
        "ranks": error(lambda: known.assert_same_rank([1])),
        "pickled": pickle.loads(pickle.dumps(known)).as_list(),
        "copied": copy.deepcopy(twelve).value,
        "lists": [[4] * twelve == [4] * 12, twelve * [4] == [4] * 12],
        "values": [tf.dimension_value(twelve), tf.dimension_value(None), tf.dimension_value(3)],
        "at": [
            tf.dimension_at_index(part, 1).value,
            tf.dimension_at_index(tf.TensorShape(None), 1).value,
        ],
        "errors": [
            error(lambda: twelve / 2),
            error(lambda: 2 / twelve),
            error(lambda: tf.Dimension([]))[0],
            error(lambda: tf.as_dtype((tf.int32, tf.int32)))[0],
            error(lambda: tf.as_dtype(0))[0],
        ],
    }


@program
def specs(tf):
    """What is known of tensors."""
    spec = tf.TensorSpec([None, 3], tf.float32, "x")
    sparse = tf.SparseTensorSpec([2, None], tf.int32)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3], name="p")
        return {
            "spec": [spec.shape.as_list(), spec.dtype.name, spec.name],
            "from": [
                tf.TensorSpec.from_tensor(x).shape.as_list(),
                tf.TensorSpec.from_tensor(x).name,
            ],
            "fits": [
                spec.is_compatible_with(x),
                spec.is_compatible_with(tf.TensorSpec([4, 3])),
                spec.is_compatible_with(tf.constant([1])),
            ],
            "equal": [
                spec == tf.TensorSpec([None, 3], tf.float32),
                sparse == tf.SparseTensorSpec(),
            ],
            "sparse": [sparse.shape.as_list(), sparse.dtype.name],
            "default": tf.IndexedSlicesSpec() == tf.IndexedSlicesSpec(dtype=tf.float32),
        }


@program
def initial_values(tf):
    """Orthogonal matrices, parts of variables, and values that need other variables."""
    values = {}
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(3)
        for name, shape in {"tall": [5, 3], "wide": [2, 2, 7]}.items():
            value = session.run(tf.orthogonal_initializer(gain=2.0, seed=1)(shape))
            values[name] = np.round(value, 4).tolist()
        parts = tf.get_variable(
            "parts",
            [400, 2],
            partitioner=tf.fixed_size_partitioner(4),
            initializer=tf.glorot_uniform_initializer(seed=2),
        )
        unit = tf.get_variable(
            "unit",
            [3, 3],
            partitioner=tf.fixed_size_partitioner(3),
            initializer=tf.initializers.identity(),
        )
        v = tf.Variable(3.0, name="v")
        w = tf.Variable(v * 2.0, name="w")
        session.run(w.initializer)
        values["w"] = [float(session.run(w)), error(lambda: session.run(v))[0]]
        session.run(tf.global_variables_initializer())
        values["largest"] = float(
            np.round(np.max(np.abs(session.run(tf.convert_to_tensor(parts)))), 2)
        )
        values["unit"] = session.run(tf.convert_to_tensor(unit)).tolist()
        values["copied"] = [
            op.name for op in tf.get_default_graph().get_operations() if "mul" in op.name
        ]
        values["int"] = tf.get_variable("int", initializer=tf.constant(1)).dtype.base_dtype.name
    values["errors"] = [
        error(lambda: tf.random_normal_initializer(dtype=tf.int32)),
        error(lambda: tf.orthogonal_initializer()([5])),
    ]
    return values


@program
def scopes_left(tf):
    """Variable scopes that end in the wrong order, getters that are none."""
    with tf.Graph().as_default():
        with tf.variable_scope("a"):
            scope = tf.variable_scope("b")
            scope.__enter__()
            with tf.variable_scope("c"):
                first = error(lambda: scope.__exit__(None, None, None))
            scope.__exit__(None, None, None)
            name = tf.get_variable("v", []).name

        def getter():
            with tf.variable_scope("d", custom_getter=3):
                tf.get_variable("w", [])

        return [first, name, error(getter)[0]]


@program
def frozen(tf):
    """Parts of graphs, and variables as constants."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [2], name="x")
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        r = tf.get_variable("r", initializer=[[3.0], [4.0]], use_resource=True)
        y = tf.add(x * v, tf.reshape(r, [2]), name="y")
        tf.identity(tf.gather(r, [1]), name="rows")
        tf.identity(y, name="unused")
        session.run(tf.global_variables_initializer())
        message = graph.as_graph_def()
        part = tf.graph_util.extract_sub_graph(message, ["y"])
        constant = tf.graph_util.convert_variables_to_constants(session, message, ["y", "rows"])
        names = sorted(node.name for node in part.node)
        pruned = tf.graph_util.remove_training_nodes(constant, ["y", "rows"])
        errors = [
            error(lambda: tf.graph_util.extract_sub_graph(message, "y"))[0],
            error(lambda: tf.graph_util.extract_sub_graph(message, ["nope"])),
        ]
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(constant, name="")
        results = [session.run(name, {"x:0": [1.0, 1.0]}).tolist() for name in ("y:0", "rows:0")]
    kinds = sorted({node.op for node in constant.node})
    return [names, results, kinds, sorted(node.op for node in pruned.node), errors]


@program
def files(tf):
    """tf.gfile and tf.compat."""
    folder = tempfile.mkdtemp()
    gfile = tf.gfile

    def path(name):
        return os.path.join(folder, name)

    def shown(call):
        return [str(item).replace(folder, "D") for item in error(call)]

    gfile.MakeDirs(path("a/b"))
    with gfile.GFile(path("a/f"), "w") as file:
        file.write("h\u00e9llo\nworld\n")
    with gfile.GFile(path("a/f"), "a") as file:
        file.write("more")
    reader = gfile.GFile(path("a/f"))
    outcomes = {
        "lines": [reader.readline(), reader.read(3), reader.size(), reader.tell()],
        "bytes": gfile.GFile(path("a/f"), "rb").read().decode(),
        "all": list(gfile.GFile(path("a/f"))),
        "exists": [gfile.Exists(path(name)) for name in ("a", "a/f", "z")],
        "folders": [gfile.IsDirectory(path(name)) for name in ("a", "a/f", "z")],
        "listed": sorted(gfile.ListDirectory(path("a"))),
        "globbed": [os.path.basename(name) for name in gfile.Glob(path("a/*"))],
        "walked": [[name.replace(folder, "D"), *entries] for name, *entries in gfile.Walk(folder)],
        "length": [gfile.Stat(path("a/f")).length, gfile.Stat(path("a")).is_directory],
    }
    gfile.Copy(path("a/f"), path("a/g"))
    outcomes["errors"] = [
        shown(lambda: gfile.Copy(path("a/f"), path("a/g"))),
        shown(lambda: gfile.Rename(path("a/g"), path("a/f"))),
        shown(lambda: gfile.Rename(path("a/g"), path("a/f"), overwrite=True)),
        shown(lambda: gfile.GFile(path("nope")).read()),
        shown(lambda: gfile.GFile(path("a/f")).write("x")),
        shown(lambda: gfile.GFile(path("a/f"), "q").read()),
        shown(lambda: gfile.ListDirectory(path("zz"))),
        shown(lambda: gfile.MkDir(path("x/y"))),
        shown(lambda: gfile.Remove(path("zz"))),
        shown(lambda: gfile.Remove(path("a"))),
        shown(lambda: gfile.DeleteRecursively(path("a"))),
        shown(lambda: gfile.DeleteRecursively(path("a"))),
    ]
    text = tf.compat
    outcomes["text"] = [
        text.as_bytes("\u00e9").hex(),
        text.as_text(b"a"),
        text.as_str_any(3),
        error(lambda: text.as_bytes(3)),
        error(lambda: text.as_text(bytearray(b"a"))),
    ]
    return outcomes


@program
def minimized(tf):
    """Losses that are functions, and updates of what is no variable."""
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], use_resource=True)
        x = tf.constant(3.0)
        optimizer = tf.train.GradientDescentOptimizer(0.5)
        step = optimizer.minimize(lambda: v * 2.0, var_list=[v])
        pairs = optimizer.compute_gradients(lambda: x * x, [x])
        session.run(tf.global_variables_initializer())
        session.run(step)
        return [
            session.run(v).tolist(),
            float(session.run(pairs[0][0])),
            error(lambda: optimizer.apply_gradients(pairs))[0],
        ]


@program
def sparse_or_dense(tf):
    """What stands for sparse tensors, and constants without a name."""
    with tf.Graph().as_default():
        sparse = tf.SparseTensor([[0, 1]], [2.0], [3, 4])
        value = tf.SparseTensorValue([[0, 1]], [2.0], [3, 4])
        convert = tf.convert_to_tensor_or_sparse_tensor
        return [
            [type(convert(item)).__name__ for item in (sparse, value)],
            convert([1]).dtype.name,
            error(lambda: convert(sparse, tf.int32)),
            tf.constant(1, name=None).name,
            tf.SparseTensor.from_value(value).shape.as_list(),
        ]


@program
def reference_types(tf):
    """References to types are types of their own."""
    reference, plain = tf.as_dtype("float32_ref"), tf.float32
    return [
        [reference.name, reference.as_datatype_enum, str(reference), repr(reference)],
        [reference.base_dtype.name, plain.base_dtype.name, plain._as_ref is reference],
        [reference._is_ref_dtype, plain._is_ref_dtype, tf.as_dtype(101) is reference],
        [reference == plain, plain == reference, plain == 101, reference == 101],
        [plain == "float32_ref", reference == "float32_ref", reference == "float32"],
        [plain.is_compatible_with(reference), reference.is_compatible_with(plain)],
        [reference.is_floating, reference.size, reference.is_numpy_compatible],
        pickle.loads(pickle.dumps(reference)) == reference,
        [tf.as_dtype("complex64_ref").is_complex, tf.as_dtype("qint8_ref").is_quantized],
    ]


@program
def own_collections(tf):
    """Variables in collections of one's own are written by name, and read as tensors."""
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], use_resource=False)
        tf.add_to_collection("mine", v)
        tf.add_to_collection("counts", 3)
        message = tf.train.export_meta_graph()
    kinds = {
        key: message.collection_def[key].WhichOneof("kind")
        for key in ("mine", "counts", "variables")
    }
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(message)
        mine = [item.name for item in graph.get_collection("mine")]
    return [kinds, list(message.collection_def["mine"].node_list.value), mine]


@program
def words_of_runs(tf):
    """What runs say of sizes that do not fit, and what complex numbers give."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1.0, 2.0, 3.0]])

        def words(tensor):
            return error(lambda: session.run(tensor))[1].splitlines()[-2]

        sizes = tf.placeholder_with_default([-1, -1], [2])
        root = session.run(tf.rsqrt(tf.constant([complex(-4.0, -0.0), complex(-4.0, 0.0)])))
        return [
            words(tf.reshape(x, sizes)),
            words(tf.pad(x, [[0, 0], [4, 1]], "REFLECT")),
            words(tf.pad(x, [[0, 0], [4, 1]], "SYMMETRIC")),
            words(tf.sparse_segment_sum(x[0], [0, 1], [0, 1], num_segments=1)),
            [root.imag.tolist(), tf.add(1, 2, name=b"sum").name],
        ]


def outcomes(tf):
    """What each program gives, those of place_programs, too."""
    return {function.__name__: function(tf) for function in PROGRAMS}
