"""What people wrote around their models for TF1, given `tf`: inputs, sessions, files, conversion.

pipeline_programs.json has what TensorFlow gives.
"""

from __future__ import annotations

import contextlib
import glob
import os
import threading

import numpy as np

PROGRAMS = []
STEPS = 20


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def line(tf, x, y, rate=0.1):
    """A line through points: its loss and a step."""
    w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(x * w + b - y), name="loss")
    global_step = tf.train.get_or_create_global_step()
    return loss, tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step)


@program
def records_through_queues(tf, numbers):
    """Records in files, read and batched by queue runners until they end."""
    for part in range(2):
        with tf.python_io.TFRecordWriter(f"part{part}.tfrecord") as writer:
            for i in range(5):
                value = float(part * 5 + i)
                features = {
                    "x": tf.train.Feature(float_list=tf.train.FloatList(value=[value, value / 2])),
                    "y": tf.train.Feature(int64_list=tf.train.Int64List(value=[part])),
                    "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"r%d" % i])),
                }
                example = tf.train.Example(features=tf.train.Features(feature=features))
                writer.write(example.SerializeToString())
    names = tf.train.string_input_producer(sorted(glob.glob("*.tfrecord")), 2, shuffle=False)
    _, serialized = tf.TFRecordReader().read(names)
    parsed = tf.parse_single_example(
        serialized,
        {
            "x": tf.FixedLenFeature([2], tf.float32),
            "y": tf.FixedLenFeature([], tf.int64),
            "name": tf.FixedLenFeature([], tf.string, default_value=""),
        },
    )
    x, y, name = tf.train.batch(
        [parsed["x"] * 2, parsed["y"], parsed["name"]], 4, allow_smaller_final_batch=True
    )
    seen, ended = [], False
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            while not coordinator.should_stop():
                a, b, c = session.run([x, y, name])
                seen.append([a.tolist(), b.tolist(), [n.decode() for n in c]])
        except tf.errors.OutOfRangeError:
            ended = True
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    return {"seen": seen, "ended": ended, "n_threads": len(threads)}


@program
def slices_and_threads(tf, numbers):
    """Slices of arrays in epochs; a queue of padded rows that a thread of one's own fills."""
    data = np.arange(12, dtype=np.float32).reshape(6, 2)
    row, label = tf.train.slice_input_producer([data, np.arange(6)], num_epochs=2, shuffle=False)
    rows, labels = tf.train.batch([row, label], 3)
    queue = tf.PaddingFIFOQueue(8, [tf.int32, tf.int32], [[None], []])
    words, length = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.int32, [])
    put = queue.enqueue([words, length])
    padded, lengths = queue.dequeue_many(3)
    loss, step = line(tf, tf.to_float(tf.reduce_sum(padded, 1)), tf.to_float(lengths), 1e-3)
    losses, batches = [], []
    with tf.train.MonitoredSession() as session:

        def fill():
            for i in range(STEPS * 3):
                session.run(put, {words: np.arange(1 + i % 4), length: 1 + i % 4})

        thread = threading.Thread(target=fill)
        thread.start()
        losses += [session.run([loss, step])[0] for _ in range(STEPS)]
        thread.join()
        with contextlib.suppress(tf.errors.OutOfRangeError):
            while not session.should_stop():
                batches.append(session.run([rows, labels]))
    return {"losses": losses, "rows": [a for a, _ in batches], "labels": [b for _, b in batches]}


@program
def monitored_training(tf, numbers):
    """Hooks, checkpoints, and a second session that goes on where the first one stopped."""
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    loss, step = line(tf, x, y)
    global_step = tf.train.get_global_step()

    class Noting(tf.train.SessionRunHook):
        def __init__(self):
            self.calls = []

        def begin(self):
            self.calls.append("begin")

        def after_create_session(self, session, coord):
            self.calls.append(f"created at {session.run(global_step)}")

        def before_run(self, run_context):
            return tf.train.SessionRunArgs({"loss": loss, "step": global_step})

        def after_run(self, run_context, run_values):
            if run_values.results["loss"] < 1e-3:
                run_context.request_stop()

        def end(self, session):
            self.calls.append(f"end at {session.run(global_step)}")

    points = np.linspace(-1, 1, 8)
    feed, losses, calls = {x: points, y: 2 * points + 1}, [], []
    for last in (12, 200):
        noting = Noting()
        hooks = [tf.train.StopAtStepHook(last_step=last), tf.train.NanTensorHook(loss), noting]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir="model", hooks=hooks, save_checkpoint_steps=5, log_step_count_steps=None
        ) as session:
            while not session.should_stop():
                losses.append(session.run([loss, step], feed)[0])
        calls += noting.calls
    state = tf.train.get_checkpoint_state("model")
    kept = [os.path.basename(path) for path in state.all_model_checkpoint_paths]
    return {"losses": losses, "calls": calls, "kept": kept}


@program
def supervisor(tf, numbers):
    """A supervisor that initializes, saves and restores, and summaries that it computes."""
    x, y = tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])
    loss, step = line(tf, x, y)
    tf.summary.scalar("loss", loss)
    merged = tf.summary.merge_all()
    points, losses, starts = np.linspace(0, 1, 6), [], []
    for _ in range(2):
        manager = tf.train.Supervisor(
            logdir="logs",
            summary_op=None,
            save_model_secs=0,
            global_step=tf.train.get_global_step(),
        )
        with manager.managed_session() as session:
            starts.append(session.run(tf.train.get_global_step()) if not losses else len(losses))
            for _ in range(STEPS // 2):
                if manager.should_stop():
                    break
                feed = {x: points, y: 1 - points}
                value, _, text = session.run([loss, step, merged], feed)
                manager.summary_computed(session, text)
                losses.append(value)
            manager.saver.save(session, manager.save_path, global_step=len(losses))
        manager.stop()
    events = [
        [event.step, value.tag, round(value.simple_value, 5)]
        for path in sorted(glob.glob("logs/events*"))
        for event in tf.train.summary_iterator(path)
        for value in event.summary.value
    ]
    return {"losses": losses, "starts": starts, "tags": sorted({e[1] for e in events})}


@program
def model_function(tf, numbers):
    """Training, evaluation and prediction as three graphs of one function."""
    data = numbers.standard_normal((16, 3)).astype(np.float32)
    labels = (data.sum(1) > 0).astype(np.int64)

    def model(features, labels, mode, params):
        h = features
        for i, units in enumerate(params["hidden"]):
            h = tf.layers.dense(h, units, tf.nn.relu, name=f"hidden{i}")
            h = tf.layers.dropout(h, 0.2, training=mode == "train", seed=i)
        logits = tf.layers.dense(h, 2, name="logits")
        predictions = {"classes": tf.argmax(logits, 1), "probabilities": tf.nn.softmax(logits)}
        if mode == "infer":
            return predictions
        loss = tf.losses.sparse_softmax_cross_entropy(labels, logits)
        if mode == "eval":
            area = tf.metrics.auc(labels, predictions["probabilities"][:, 1])
            accuracy = tf.metrics.accuracy(labels, predictions["classes"])
            return loss, {"accuracy": accuracy, "auc": area, "loss": tf.metrics.mean(loss)}
        optimizer = tf.train.AdagradOptimizer(params["rate"])
        return loss, optimizer.minimize(loss, tf.train.get_global_step())

    params, losses = {"hidden": [6, 4], "rate": 0.3}, []
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(4)
        tf.train.create_global_step()
        loss, step = model(tf.constant(data), tf.constant(labels), "train", params)
        session.run(tf.global_variables_initializer())
        losses += [session.run([loss, step])[0] for _ in range(STEPS)]
        tf.train.Saver().save(session, "./model.ckpt", tf.train.get_global_step())
    latest = tf.train.latest_checkpoint(".")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.create_global_step()
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.int64, [None])
        _, metrics = model(x, y, "eval", params)
        session.run(tf.local_variables_initializer())
        tf.train.Saver().restore(session, latest)
        for i in range(0, 16, 4):
            session.run(
                [op for _, op in metrics.values()], {x: data[i : i + 4], y: labels[i : i + 4]}
            )
        evaluated = session.run([metrics[name][0] for name in sorted(metrics)])
    with tf.Graph().as_default(), tf.Session() as session:
        predictions = model(tf.constant(data[:4]), None, "infer", params)
        tf.train.Saver().restore(session, latest)
        predicted = session.run(predictions["probabilities"])
    return {"losses": losses, "metrics": evaluated, "predicted": predicted, "latest": latest}


@program
def graph_surgery(tf, numbers):
    """A trained graph is frozen, cut, fed by another one and converted."""
    with tf.Graph().as_default() as trained, tf.Session() as session:
        tf.set_random_seed(2)
        x = tf.placeholder(tf.float32, [None, 6, 6, 1], name="input")
        h = tf.layers.conv2d(x, 3, 3, activation=tf.nn.relu6, name="conv")
        h = tf.nn.max_pool(h, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        y = tf.nn.softmax(tf.layers.dense(tf.reshape(h, [-1, 12]), 4, name="fc"), name="output")
        target = tf.placeholder(tf.int64, [None])
        loss = tf.reduce_mean(-tf.log(tf.reduce_sum(y * tf.one_hot(target, 4), 1)))
        step = tf.train.AdamOptimizer(0.05).minimize(loss)
        session.run(tf.global_variables_initializer())
        images, classes = numbers.random((8, 6, 6, 1)).astype(np.float32), np.arange(8) % 4
        feed = {x: images, target: classes}
        losses = [session.run([loss, step], feed)[0] for _ in range(STEPS)]
        expected = session.run(y, feed)
        frozen = tf.graph_util.convert_variables_to_constants(
            session, trained.as_graph_def(), ["output"]
        )
    frozen = tf.graph_util.remove_training_nodes(frozen, ["output"])
    part = tf.graph_util.extract_sub_graph(frozen, ["conv/Relu6"])
    with tf.gfile.GFile("frozen.pb", "wb") as f:
        f.write(frozen.SerializeToString())
    with tf.Graph().as_default(), tf.Session() as session:
        pixels = tf.placeholder(tf.uint8, [None, 6, 6, 1])
        scaled = tf.to_float(pixels) / 255.0
        definition = tf.GraphDef()
        with tf.gfile.GFile("frozen.pb", "rb") as f:
            definition.ParseFromString(f.read())
        (out,) = tf.import_graph_def(definition, {"input": scaled}, ["output:0"], name="net")
        (cut,) = tf.import_graph_def(part, {"input": scaled}, ["conv/Relu6:0"], name="part")
        bytes_ = (images * 255).astype(np.uint8)
        values = session.run([out, tf.reduce_mean(cut, [1, 2])], {pixels: bytes_})
    converter = tf.lite.TFLiteConverter.from_frozen_graph("frozen.pb", ["input"], ["output"])
    interpreter = tf.lite.Interpreter(model_content=converter.convert())
    index = interpreter.get_input_details()[0]["index"]
    interpreter.resize_tensor_input(index, [8, 6, 6, 1])
    interpreter.allocate_tensors()
    interpreter.set_tensor(index, images)
    interpreter.invoke()
    converted = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
    names = [node.name for node in part.node]
    return {"losses": losses, "same": np.abs(converted - expected).max() < 1e-5,
            "values": values, "names": names}  # fmt: skip


@program
def tensorboard(tf, numbers):
    """Summaries of all kinds, by steps, and what stands in the file."""
    x = tf.placeholder(tf.float32, [4, 3])
    with tf.name_scope("layer"):
        w = tf.Variable(tf.ones([3, 2]) * 0.5, name="w")
        h = tf.matmul(x, w)
        tf.summary.histogram("weights", w)
    loss = tf.reduce_mean(tf.square(h - 1))
    tf.summary.scalar("loss", loss)
    tf.summary.image("picture", tf.reshape(tf.sigmoid(x), [1, 4, 3, 1]), max_outputs=1)
    tf.summary.text("note", tf.constant("twenty steps"))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    merged, losses = tf.summary.merge_all(), []
    with tf.Session() as session:
        writer = tf.summary.FileWriter("logs", session.graph)
        session.run(tf.global_variables_initializer())
        data = numbers.standard_normal((4, 3))
        for i in range(STEPS):
            text, value = session.run([merged, loss], {x: data})
            session.run(step, {x: data})
            writer.add_summary(text, i)
            losses.append(value)
        extra = tf.Summary(value=[tf.Summary.Value(tag="own", simple_value=losses[-1])])
        writer.add_summary(extra, STEPS)
        writer.close()
    (path,) = glob.glob("logs/events*")
    scalars, buckets, tags = [], [], []
    for event in tf.train.summary_iterator(path):
        for value in event.summary.value:
            tags.append(value.tag)
            if value.HasField("simple_value"):
                scalars.append(value.simple_value)
            elif value.HasField("histo"):
                buckets.append([value.histo.min, value.histo.max, value.histo.num, value.histo.sum])
    return {"losses": losses, "scalars": scalars, "histograms": buckets, "tags": sorted(set(tags))}


@program
def checkpoints_and_flags(tf, numbers):
    """Flags, savers of parts, averages in the place of variables, a graph from its file."""
    flags = tf.app.flags
    flags.DEFINE_float("pipeline_rate", 0.2, "Learning rate.")
    flags.DEFINE_boolean("pipeline_average", True, "Whether to keep averages.")
    flags.DEFINE_enum("pipeline_kind", "line", ["line", "curve"], "What to fit.")
    flags.FLAGS(
        ["program", "--pipeline_rate=0.1", "--nopipeline_average", "--pipeline_kind", "curve"]
    )
    values = flags.FLAGS
    flagged = [values.pipeline_rate, values.pipeline_average, values.pipeline_kind]
    x, y = tf.placeholder(tf.float32, [None], "x"), tf.placeholder(tf.float32, [None], "y")
    loss, step = line(tf, x, y, values.pipeline_rate)
    average = tf.train.ExponentialMovingAverage(0.8, tf.train.get_global_step())
    with tf.control_dependencies([step]):
        update = average.apply(tf.trainable_variables())
    for name in ("pipeline_rate", "pipeline_average", "pipeline_kind"):
        delattr(flags.FLAGS, name)
    points, losses = np.linspace(-1, 1, 5), []
    saver = tf.train.Saver(max_to_keep=2, keep_checkpoint_every_n_hours=1)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for i in range(STEPS):
            losses.append(session.run([loss, update], {x: points, y: points**2 + points})[0])
            if i % 6 == 5:
                saver.save(session, "./line", global_step=i)
    latest = tf.train.latest_checkpoint(".")
    listed = [[name, list(shape)] for name, shape in tf.train.list_variables(latest)]
    reader = tf.train.NewCheckpointReader(latest)
    raw = [reader.get_tensor("w"), reader.has_tensor("nothing")]
    with tf.Session() as session:
        tf.train.Saver(average.variables_to_restore()).restore(session, latest)
        averaged = session.run(tf.trainable_variables())
    with tf.Graph().as_default() as graph, tf.Session() as session:
        again = tf.train.import_meta_graph(f"{latest}.meta", clear_devices=True)
        again.restore(session, latest)
        restored = session.run("loss:0", {"x:0": points, "y:0": points})
        n = len(graph.get_collection(tf.GraphKeys.TRAINABLE_VARIABLES))
    kept = [os.path.basename(p) for p in saver.last_checkpoints]
    return {"losses": losses, "flags": flagged, "listed": listed, "raw": raw, "averaged": averaged,
            "restored": restored, "n": n, "kept": kept}  # fmt: skip
