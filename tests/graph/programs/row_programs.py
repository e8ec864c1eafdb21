"""Programs of ragged tensors, Examples, CSV, records and files: TensorFlow's values are kept.

Each takes `tf` and a folder it may write to, and gives what is fetched. ERRORS raise, when they are
built or when they are run, errors of a type with these words.
"""

from __future__ import annotations

import os
import tempfile

import numpy as np


def _rows(tf):
    return tf.ragged.constant([[1, 2, 3], [], [4, 5]])


def _deep(tf):
    return tf.ragged.constant([[[1.0], [2.0, 3.0]], [], [[4.0, 5.0, 6.0], []]])


def indexing(tf, folder):
    rows, deep = _rows(tf), _deep(tf)
    return [
        rows[0],
        rows[-1],
        rows[1:],
        rows[::-1],
        rows[:, 1:],
        rows[:, ::-2],
        rows[:, -2:],
        rows[2, 1],
        deep[0, 1],
        deep[:, :, ::-1],
        deep[2],
        deep[..., :1],
        rows[:, tf.newaxis],
        rows[tf.newaxis],
        deep[:, 1:],
        rows[tf.constant(2)],
    ]


def joining(tf, folder):
    rows, deep = _rows(tf), _deep(tf)
    return [
        tf.concat([rows, rows[::-1]], 1),
        tf.concat([rows, [[9]]], 0),
        tf.concat([deep, deep], -1),
        tf.stack([rows, rows], 1),
        tf.stack([rows, rows + 1], 2),
        tf.ragged.stack([[1], [2, 3]]),
        tf.tile(rows, [2, 3]),
        tf.expand_dims(rows, 1),
        tf.expand_dims(deep, -1),
        tf.squeeze(tf.expand_dims(rows, 0), [0]),
        tf.reverse(deep, [0, 2]),
        deep.merge_dims(0, 1),
        deep.merge_dims(1, 2),
        *tf.split(rows, [1, 2]),
        tf.size(deep),
        tf.rank(deep),
    ]


def picking(tf, folder):
    rows, deep = _rows(tf), _deep(tf)
    ragged = tf.ragged.constant([[2, 0], [], [1]])
    return [
        tf.gather(rows, [2, 0, 2]),
        tf.gather(deep, ragged),
        tf.gather(rows, [[0], [2]]),
        tf.gather_nd(rows, [[0, 2], [2, 1]]),
        tf.gather_nd(deep, [[2, 0]]),
        tf.batch_gather(rows, ragged),
        tf.gather(rows, [0, 2, 1, 0]),
        tf.gather([7, 8, 9], ragged),
        tf.where(rows > 2),
        tf.where(rows > 2, rows, -rows),
        tf.where([True, False, True], rows, -rows),
        tf.one_hot(rows, 3),
        tf.ragged.boolean_mask(deep, deep > 2.0),
    ]


def reductions(tf, folder):
    rows, deep = _rows(tf), _deep(tf)
    ids = tf.ragged.constant([[0, 1, 0], [], [2, 2]])
    results = [tf.reduce_sum(deep, axis) for axis in (None, 0, 1, 2, [1, 2], [0, 2])]
    results += [tf.reduce_max(deep, 1), tf.reduce_prod(rows, 0), tf.reduce_any(rows > 2, 1)]
    results += [tf.reduce_sum(rows, 1, keepdims=True), tf.reduce_mean(rows, 0)]
    results += [
        tf.math.unsorted_segment_sum(rows, ids, 3),
        tf.math.unsorted_segment_max(rows, ids, 3),
    ]
    return [*results, tf.math.bincount(tf.constant([1, 1, 3]))]


def conversions(tf, folder):
    rows, deep = _rows(tf), _deep(tf)
    ragged = tf.RaggedTensor
    grid = np.arange(12).reshape(2, 3, 2)
    return [
        deep.to_tensor(),
        rows.to_tensor(-1, shape=[None, 2]),
        rows.to_tensor(shape=[4, 4]),
        deep.to_sparse(),
        ragged.from_sparse(rows.to_sparse()),
        rows.row_lengths(),
        ragged.from_tensor(grid, ragged_rank=2),
        ragged.from_tensor(grid, lengths=[1, 3]),
        ragged.from_tensor([[1, 0, 0], [0, 2, 0]], padding=0),
        deep.row_lengths(2),
        ragged.from_uniform_row_length(rows, 3),
        deep.bounding_shape(),
        *deep.nested_value_rowids(),
        ragged.from_nested_value_rowids([1, 2, 3], [[0, 0], [0, 1, 1]]),
        tf.zeros_like(rows),
        rows.with_row_splits_dtype(tf.int32).row_splits,
    ]


def broadcasting(tf, folder):
    rows, deep = _rows(tf), _deep(tf)
    return [
        rows * [[10], [20], [30]],
        rows + [100],
        deep + [[[1.0]], [[2.0]], [[3.0]]],
        rows + rows[:1][:, :1][0],
        tf.math.add_n([rows, rows]),
        tf.cast(rows, tf.float32) / 2.0,
        tf.where_v2(rows > 1, rows, 0),
    ]


def gradients(tf, folder):
    x = _deep(tf)
    grid = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    rows = tf.RaggedTensor.from_tensor(grid, lengths=[1, 2])
    return [
        *tf.gradients(x * x, x),
        *tf.gradients(tf.reduce_sum(x, 1) ** 2, x),
        *tf.gradients(tf.gather(x, [2, 2]).to_tensor(), x),
        *tf.gradients(rows, grid),
    ]


def control_flow(tf, folder):
    rows = _rows(tf)
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 3])
    looped = tf.while_loop(
        lambda i, x: i < 2, lambda i, x: (i + 1, tf.concat([x, x], 1)), [tf.constant(0), rows]
    )
    return [
        tf.cond(tf.constant(True), lambda: rows + 1, lambda: rows),
        looped[1],
        tf.map_fn(lambda x: x + 1, rows),
        tf.map_fn(tf.reduce_sum, rows, dtype=tf.int32),
        tf.map_fn(
            lambda n: tf.ragged.range(tf.range(n)), tf.constant([1, 3]), fn_output_signature=spec
        ),
        tf.map_fn(lambda x: x, sparse),
        tf.py_function(lambda x: x + 1, [rows], spec),
    ]


def texts(tf, folder):
    words = tf.ragged.constant([["a b", "c"], ["d e  f"]])
    ragged = "RaggedTensor"
    return [
        tf.strings.split(["a b", "", "c"], result_type=ragged),
        tf.strings.split([["a,b"], ["c"]], ",", result_type=ragged),
        tf.strings.split(words, result_type=ragged),
        tf.string_split(["a b"]),
        tf.strings.bytes_split(["ab", "c"]),
        tf.strings.reduce_join(words, axis=1, separator="-"),
        tf.strings.join([words, "!"]),
        tf.strings.length(words),
        tf.strings.regex_replace(words, " ", ""),
        tf.strings.unicode_decode(words, "UTF-8"),
        tf.strings.ngrams(tf.strings.split(["a b c", "d"], result_type=ragged), 2),
        tf.ragged.cross([words, [["x"], ["y"]]]),
        tf.ragged.cross_hashed([words, [["x"], ["y"]]], 100),
        tf.ragged.range([3, 0, 2], [5, 0, 9], 2),
    ]


JSON = '{"features":{"feature":{"a":{"int64List":{"value":["4"]}}}}}'


def _example(tf):
    message = tf.train.Example()
    features = message.features.feature
    features["a"].int64_list.value.extend([1, 2, 3])
    features["n"].int64_list.value.extend([2, 1])
    features["x"].float_list.value.append(0.5)
    features["at"].int64_list.value.extend([5, 0, 3])
    other = tf.train.Example()
    other.features.feature["x"].float_list.value.append(-1.0)
    other.features.feature["s"].bytes_list.value.append(b"text")
    return [message.SerializeToString(), other.SerializeToString()]


def examples(tf, folder):
    ragged = tf.io.RaggedFeature
    features = {
        "x": tf.FixedLenFeature([], tf.float32),
        "s": tf.FixedLenFeature([1], tf.string, "none"),
        "a": tf.VarLenFeature(tf.int64),
        "q": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=7),
        "n": tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True),
        "sparse": tf.SparseFeature("at", "a", tf.int64, 6),
    }
    rows = {
        "flat": ragged(tf.int64, "a"),
        "rows": ragged(tf.int64, "a", partitions=[ragged.RowLengths("n")]),
    }
    results = []
    for parsed in (
        tf.parse_example(_example(tf), features),
        tf.parse_example(_example(tf), rows),
        tf.parse_single_example(_example(tf)[0], features),
        tf.parse_single_example(_example(tf)[0], rows),
    ):
        results += [parsed[key] for key in sorted(parsed)]
    return results


def sequences(tf, folder):
    message = tf.train.SequenceExample()
    message.context.feature["x"].float_list.value.append(0.5)
    steps = message.feature_lists.feature_list["steps"].feature
    for i in range(3):
        steps.add().int64_list.value.extend(range(i, i + 2))
    text = message.SerializeToString()
    context = {"x": tf.FixedLenFeature([], tf.float32)}
    dense = {"steps": tf.FixedLenSequenceFeature([2], tf.int64)}
    sparse = {"steps": tf.VarLenFeature(tf.int64)}
    one, lists = tf.parse_single_sequence_example(text, context, dense)
    _, others = tf.parse_single_sequence_example(text, None, sparse)
    batch = tf.io.parse_sequence_example([text, text], context, dense)
    ragged = tf.io.parse_sequence_example([text], None, {"steps": tf.io.RaggedFeature(tf.int64)})
    return [
        one["x"],
        lists["steps"],
        others["steps"],
        batch[1]["steps"],
        batch[2]["steps"],
        ragged[1]["steps"],
    ]


def decoding(tf, folder):
    sparse = tf.SparseTensor([[0, 1], [2, 0]], [1, 2], [3, 3])
    return [
        *tf.decode_csv(['1,"a ""b"", c",NA', "2,,3.5"], [[0], ["x"], [0.5]], na_value="NA"),
        *tf.decode_csv(["1;2;3"], [[0]], ";", select_cols=[2]),
        tf.decode_raw(["abcd"], tf.int16),
        tf.decode_raw(["ab"], tf.uint16, little_endian=False),
        tf.parse_tensor(tf.serialize_tensor([[1.0, 2.0]]), tf.float32),
        tf.deserialize_many_sparse(tf.serialize_many_sparse(sparse), tf.int32, 1),
        tf.io.decode_compressed([b"x\x9cK\x04\x00\x00b\x00b"], "ZLIB"),
        tf.parse_example(tf.decode_json_example([JSON]), {"a": tf.FixedLenFeature([], tf.int64)})[
            "a"
        ],
    ]


def raw_operations(tf, folder):
    raw, train = tf.raw_ops, tf.train
    features = {
        "a": train.Feature(int64_list=train.Int64List(value=[3, 4])),
        "b": train.Feature(float_list=train.FloatList(value=[0.5])),
    }
    text = train.Example(features=train.Features(feature=features)).SerializeToString()
    steps = train.FeatureList(feature=[features["a"], features["a"]])
    lists = train.FeatureLists(feature_list={"steps": steps})
    context = train.Features(feature=features)
    sequence = train.SequenceExample(context=context, feature_lists=lists).SerializeToString()
    splits, weights = np.int64([0, 2, 3]), np.zeros(0, np.float32)
    keys = {"sparse_keys": ["a"], "dense_keys": ["b"], "dense_defaults": [weights]}
    types = {"sparse_types": [tf.int64], "dense_shapes": [[1]]}
    results = [
        raw.RaggedBincount(splits=splits, values=[1, 0, 1], size=3, weights=weights),
        raw.SparseBincount(
            indices=np.int64([[0, 0], [1, 1]]), values=[1, 2], dense_shape=np.int64([2, 2]), size=4,
            weights=weights, binary_output=True,
        ),
        *raw.RaggedGather(
            params_nested_splits=[splits], params_dense_values=[1.0, 2.0, 3.0], indices=[1, 0],
            OUTPUT_RAGGED_RANK=1,
        ),
        *raw.RaggedTensorToSparse(rt_nested_splits=[splits], rt_dense_values=[1.0, 2.0, 3.0]),
        raw.DecodePaddedRaw(input_bytes=["abcd", "e"], fixed_length=4, out_type=tf.int16),
        *raw.ParseExample(serialized=[text], names=["n"], **keys, **types),
        *raw.ParseSingleExample(serialized=text, num_sparse=1, **keys, **types),
        *raw.ParseSingleSequenceExample(
            serialized=sequence, feature_list_dense_missing_assumed_empty=np.array([], object),
            context_sparse_keys=["a"], context_dense_keys=[], feature_list_sparse_keys=[],
            feature_list_dense_keys=["steps"], context_dense_defaults=[], debug_name="n",
            context_sparse_types=[tf.int64], feature_list_dense_types=[tf.int64],
            feature_list_dense_shapes=[[2]],
        ),
    ]  # fmt: skip
    return [x for result in results for x in (result if isinstance(result, list) else [result])]


def _read(tf, session, reader, names, n):
    queue = tf.FIFOQueue(9, [tf.string], shapes=())
    session.run(queue.enqueue_many([names]))
    session.run(queue.close())
    read = reader.read(queue)
    records = [session.run(read) for _ in range(n)]
    try:
        session.run(read)
    except tf.errors.OutOfRangeError:
        records.append(
            session.run([reader.num_records_produced(), reader.num_work_units_completed()])
        )
    return records


def readers(tf, folder):
    lines, packed = os.path.join(folder, "lines.txt"), os.path.join(folder, "records")
    with open(lines, "wb") as file:
        file.write(b"one\ntwo\r\n\nfour")
    for options in ("", "GZIP"):
        writer = tf.python_io.TFRecordWriter(packed + options, tf.io.TFRecordOptions(options))
        with writer:
            writer.write(b"first")
            writer.write(b"")
    results = []
    with tf.Session() as session:
        for reader, names, n in (
            (tf.TextLineReader(skip_header_lines=1), [lines, lines], 6),
            (tf.WholeFileReader(), [lines], 1),
            (tf.IdentityReader(), ["a", "b"], 2),
            (tf.FixedLengthRecordReader(3, header_bytes=1, footer_bytes=1), [lines], 4),
            (tf.TFRecordReader(), [packed], 2),
            (tf.TFRecordReader(options=tf.io.TFRecordOptions("GZIP")), [packed + "GZIP"], 2),
        ):
            results += _read(tf, session, reader, names, n)
        results += list(tf.io.tf_record_iterator(packed))
        session.run(tf.write_file(os.path.join(folder, "deep", "file"), "content"))
    pattern = os.path.join(folder, "*")
    return [
        *results,
        tf.matching_files(pattern),
        tf.read_file(os.path.join(folder, "deep", "file")),
    ]


def devices(tf, folder):
    cluster = tf.train.ClusterSpec({"ps": ["a:1", "b:1"], "worker": {1: "c:1"}})
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        first, second = tf.Variable(1.0), tf.get_variable("v", [], use_resource=True)
        with tf.device("/cpu:0"):
            total = first + second
    named = (first, first.initializer, second, second.initializer, total)
    text = cluster.as_cluster_def().SerializeToString(deterministic=True)
    return [*(x.device for x in named), text, cluster.job_tasks("worker"), cluster.num_tasks("ps")]


VALUES = [
    indexing,
    joining,
    picking,
    reductions,
    conversions,
    broadcasting,
    gradients,
    control_flow,
    texts,
    examples,
    sequences,
    decoding,
    raw_operations,
    readers,
    devices,
]

LOOP = "[t := [], tf.while_loop(lambda i: i < 9, lambda i: (t.append(i + 1), i + 1)[1], [0])][0][0]"
INTS = "tf.FixedLenFeature([{}], tf.int64)"
ERRORS = {
    "tf.RaggedTensor.from_row_splits([1, 2], [0, 1, 3])": "do not form a valid RaggedTensor",
    "tf.RaggedTensor.from_row_lengths([1, 2], [-1, 3])": "do not form a valid RowPartition",
    "tf.ragged.constant([[1, [2]]])": "all scalar values must have the same nesting depth",
    "tf.ragged.constant([[1]])[:, 0]": "Cannot index into an inner ragged dimension",
    "tf.concat([tf.ragged.constant([[1]]), [[2]]], 2)": "axis=2 out of bounds: expected -2<=axis<2",
    "tf.squeeze(tf.ragged.constant([[1]]))": "Ragged.squeeze must have an axis argument",
    "tf.RaggedTensorSpec()": "Must specify ragged_rank or a shape with a known rank",
    f"tf.add(1, {LOOP})": "is in a while loop. See info log for more details.",
    f"tf.parse_example([b''], {{'a': {INTS.format(2)}}})['a']": (
        "Name: <unknown>, Feature: a (data type: int64) is required but could not be found."
    ),
    f"tf.parse_example([b''], {{'a': {INTS.format(None)}}})": (
        "First dimension of shape for feature a unknown. Consider using FixedLenSequenceFeature."
    ),
    "tf.decode_csv(['a'], [[0]])": "Field 0 in record 0 is not a valid int32: a",
    "tf.decode_csv(['1,2'], [[0]])": "Expect 1 fields but have 2 in record 0",
    "tf.decode_raw(['a', 'bc'], tf.uint8)": "",
    "tf.parse_tensor('x', tf.float32)": "Could not parse `serialized` as TensorProto",
    "tf.read_file('/nowhere/file')": "No such file or directory",
    "tf.train.ClusterSpec({'a': 3})": "The tasks for job 'a' must be a list or a dictionary",
}


def plain(value, folder):
    """A result as JSON can hold it: lists, numbers, text; folders are named alike."""
    if hasattr(value, "to_list"):
        return plain(value.to_list(), folder)
    if hasattr(value, "_fields") or isinstance(value, (list, tuple)):
        return [plain(item, folder) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist(), folder)
    if isinstance(value, bytes):
        return value.decode("latin-1").replace(folder, "FOLDER")
    return round(value, 5) if isinstance(value, float) else value


def values_of(tf, program, folder):
    """What a program gives."""
    with tf.Graph().as_default():
        results = list(program(tf, folder))
        names = ("graph", "dense_shape", "flat_values")
        places = [i for i, x in enumerate(results) if any(hasattr(x, name) for name in names)]
        with tf.Session() as session:
            values = session.run([results[i] for i in places])
        for i, value in zip(places, values, strict=True):
            results[i] = value
        return [plain(result, folder) for result in results]


def error_of(tf, expression):
    """The names of the type that an expression raises and of its bases, and the words."""
    with tf.Graph().as_default(), tf.Session() as session:
        try:
            session.run(eval(expression, {"tf": tf}))
        except Exception as error:
            return [type(error).__name__, str(error)]
    return None


def outcomes(tf):
    """Values and errors; of a message, the line with the words that count."""
    results = {"values": {}, "errors": {}}
    for program in VALUES:
        with tempfile.TemporaryDirectory() as folder:
            results["values"][program.__name__] = values_of(tf, program, folder)
    for expression, words in ERRORS.items():
        kind, message = error_of(tf, expression)
        lines = message.splitlines()
        gist = next((line for line in lines if words in line), lines[0])
        results["errors"][expression] = [kind, gist.strip()]
    return results
