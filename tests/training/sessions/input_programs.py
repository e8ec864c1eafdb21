"""Programs that read files by name: functions of Python, records with images, towers, embeddings.

Given `tf`; input_programs.json has what TensorFlow gives.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


@program
def names_into_functions(tf, numbers):
    """A function of Python reads the files whose names it gets, as do operations beside it."""
    image = tf.placeholder(tf.uint8, [4, 5, 3])
    encoded = tf.image.encode_png(image)
    with tf.Session() as session:
        for i in range(3):
            pixels = numbers.integers(0, 256, (4, 5, 3))
            Path(f"{i}.png").write_bytes(session.run(encoded, {image: pixels}))
    names = [f"{i}.png" for i in range(3)]

    def read(name, label):
        head = np.frombuffer(Path(name.decode()).read_bytes(), np.uint8)[:8]
        return head * np.float32(label), label + 1

    def parsed(name, label):
        head, label = tf.py_func(read, [name, label], [tf.float32, label.dtype])
        pixels = tf.image.decode_png(tf.read_file(name), channels=3)
        pixels.set_shape([4, 5, 3])
        return {"head": tf.reshape(head, [8]), "name": name}, tf.to_float(pixels), label

    data = tf.data.Dataset.from_tensor_slices((names, [1, 2, 3])).map(parsed)
    data = data.padded_batch(2, ({"head": [10], "name": []}, [4, 6, 3], []))
    features, pixels, labels = data.make_one_shot_iterator().get_next()
    whole = tf.map_fn(tf.read_file, tf.constant(names))
    means = tf.map_fn(
        lambda text: tf.reduce_mean(tf.to_float(tf.image.decode_png(text))), whole, tf.float32
    )
    results = {}
    with tf.Session() as session:
        for step in range(2):
            *batch, texts = session.run([features["head"], pixels, labels, features["name"]])
            results |= {f"batch {step}": batch, f"names {step}": [x.decode() for x in texts]}
        results["means"] = session.run(means)
    return results


@program
def records_with_zeros(tf, numbers):
    """Compressed records of images, the first of zeros alone, and what an autoencoder learns."""
    options = tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.GZIP)
    with tf.python_io.TFRecordWriter("images.tfrecord", options=options) as writer:
        for i in range(6):
            pixels = (numbers.integers(0, 256, (3, 3)) * (i > 0)).astype(np.uint8).tobytes()
            features = {
                "image": tf.train.Feature(bytes_list=tf.train.BytesList(value=[pixels])),
                "marks": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5 * i] * i)),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())

    def parsed(record):
        features = {
            "image": tf.FixedLenFeature([], tf.string),
            "marks": tf.VarLenFeature(tf.float32),
            "label": tf.FixedLenFeature([], tf.int64, default_value=-1),
        }
        example = tf.parse_single_example(record, features)
        pixels = tf.to_float(tf.decode_raw(example["image"], tf.uint8)) / 255.0
        return (
            tf.reshape(pixels, [9]),
            tf.sparse_tensor_to_dense(example["marks"]),
            example["label"],
        )

    data = tf.data.TFRecordDataset(["images.tfrecord"], compression_type="GZIP").map(parsed)
    data = data.repeat().padded_batch(3, ([9], [None], []))
    x, marks, labels = data.make_one_shot_iterator().get_next()
    start = tf.glorot_uniform_initializer(seed=3)
    coded = tf.layers.dense(x, 4, tf.nn.sigmoid, kernel_initializer=start)
    decoded = tf.layers.dense(coded, 9, tf.nn.sigmoid, kernel_initializer=start)
    loss = tf.losses.mean_squared_error(x, decoded)
    train = tf.train.RMSPropOptimizer(0.01).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        steps = [session.run([loss, marks, labels, train])[:3] for _ in range(4)]
    return {"losses": [step[0] for step in steps], "marks": [step[1:] for step in steps]}


@program
def towers_with_partitions(tf, numbers):
    """Two towers that share variables, on devices that are not there; embeddings in parts."""
    table = tf.get_variable(
        "table", [9, 4], initializer=tf.ones_initializer(), partitioner=tf.fixed_size_partitioner(3)
    )
    ids, weights = tf.sparse_placeholder(tf.int64), tf.sparse_placeholder(tf.float32)
    rows = tf.nn.embedding_lookup_sparse(table, ids, weights, combiner="sqrtn")
    labels = tf.constant([0, 2, 1, 1])
    optimizer, gradients, losses = tf.train.FtrlOptimizer(0.5), [], []
    for i in range(2):
        with tf.device(f"/gpu:{i}"), tf.name_scope(f"tower_{i}") as scope:
            with tf.variable_scope("head", reuse=i > 0):
                logits = tf.layers.dense(rows[2 * i : 2 * i + 2], 3, name="logits")
            part = labels[2 * i : 2 * i + 2]
            tf.losses.sparse_softmax_cross_entropy(part, logits, scope=scope)
            losses.append(tf.losses.get_total_loss(False))
            gradients.append(optimizer.compute_gradients(losses[-1]))
    summed = [
        (tf.add_n([tf.convert_to_tensor(dx) for dx, _ in pairs]) / 2, pairs[0][1])
        for pairs in zip(*gradients, strict=True)
    ]
    train = optimizer.apply_gradients(summed)
    places = np.array([[0, 0], [0, 1], [1, 0], [2, 0], [3, 0], [3, 1]])
    feeds = {
        ids: tf.SparseTensorValue(places, [8, 1, 3, 0, 5, 1], [4, 2]),
        weights: tf.SparseTensorValue(places, numbers.uniform(0.5, 1, 6), [4, 2]),
    }
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        session.run(tf.global_variables_initializer())
        steps = [session.run([losses, train], feeds)[0] for _ in range(4)]
        whole = session.run(tf.convert_to_tensor(table))
    names = [v.name for v in tf.global_variables()]
    return {"losses": steps, "table": whole, "names": names}
