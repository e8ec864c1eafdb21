"""Programs that go through datasets by iterators; each gives what can be compared."""

from __future__ import annotations

import re
import tempfile

import numpy as np


def _tried(run):
    """What a call gives, or the error it raises."""
    try:
        return run()
    except Exception as error:  # what the library under test raises is what is compared
        lines = str(error).splitlines() or [""]
        nodes = [i for i, line in enumerate(lines) if "[[{{node" in line]
        line = lines[max(nodes[0] - 1, 0)] if nodes else lines[0]
        return [type(error).__name__, re.sub(r"0x[0-9a-f]+", "0x", line)]


def _all(session, tensor, most=20):
    """The values of a tensor, run by run."""
    values = []
    for _ in range(most):
        value = _tried(lambda: np.asarray(session.run(tensor)).tolist())
        values.append(value)
        if isinstance(value, list) and value and value[0] == "OutOfRangeError":
            break
    return values


def initializable(tf):
    """A placeholder is fed to the initializer; it can be run again."""
    n = tf.placeholder(tf.int64, [])
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.range(n))
    element = iterator.get_next()
    with tf.Session() as session:
        before = _tried(lambda: session.run(element))
        results = []
        for value in (2, 3):
            session.run(iterator.initializer, {n: value})
            results.append(_all(session, element))
    return before, results, str(iterator.output_types), str(iterator.output_shapes)


def one_shot(tf):
    """What it reads must not have a state."""
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    x = tf.placeholder(tf.int64, [])
    D = tf.data.Dataset
    element = D.range(3).map(lambda i: i * 2).make_one_shot_iterator().get_next()
    errors = [
        _tried(lambda: tf.data.make_one_shot_iterator(D.range(x))),
        _tried(lambda: tf.data.make_one_shot_iterator(D.range(3).map(lambda i: v))),
    ]
    with tf.Session() as session:
        return _all(session, element), [[kind, text[:40]] for kind, text in errors]


def two_consumers(tf):
    """Elements that two operations take come in turns; one operation gives one a run."""
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(6))
    a = iterator.get_next()
    with tf.control_dependencies([a]):
        b = iterator.get_next()
    with tf.Session() as session:
        return _all(session, [a, b])


def from_structure(tf):
    """One iterator goes through two datasets."""
    D = tf.data.Dataset
    iterator = tf.data.Iterator.from_structure(tf.int64, tf.TensorShape([None]))
    first, second = D.range(4).batch(2), D.range(9).batch(4)
    element = iterator.get_next()
    starts = [iterator.make_initializer(first), iterator.make_initializer(second)]
    wrong = _tried(lambda: iterator.make_initializer(D.from_tensors([1.0])))
    shape = _tried(lambda: iterator.make_initializer(D.range(3)))
    missing = _tried(lambda: iterator.initializer)
    with tf.Session() as session:
        results = []
        for start in (*starts, starts[0]):
            session.run(start)
            results.append(_all(session, element))
    return results, wrong, shape, missing


def from_string_handle(tf):
    """What is fed says which of two iterators gives the next element."""
    D = tf.data.Dataset
    handle = tf.placeholder(tf.string, [])
    iterator = tf.data.Iterator.from_string_handle(handle, tf.int64, [])
    element = iterator.get_next()
    train = tf.data.make_one_shot_iterator(D.range(3))
    test = tf.data.make_initializable_iterator(D.range(10, 12))
    with tf.Session() as session:
        handles = session.run([train.string_handle(), test.string_handle()])
        session.run(test.initializer)
        order = [0, 1, 0, 1, 0, 1, 0]
        values = [
            _tried(lambda i=i: int(session.run(element, {handle: handles[i]}))) for i in order
        ]
        wrong = _tried(lambda: session.run(element, {handle: b"nothing"}))
    return values, wrong[0]


def captured(tf):
    """Functions read variables and tables of the graph around."""
    ten = tf.constant_initializer(10)
    v = tf.get_variable("v", [], tf.int64, initializer=ten)
    r = tf.get_variable("r", [], tf.int64, initializer=ten, use_resource=True)
    keys, values = tf.constant(["a", "b"]), tf.constant([1, 2], tf.int64)
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(keys, values), -1)
    dataset = tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).map(table.lookup)
    dataset = dataset.map(lambda x: (x + v, x + r))
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(iterator.initializer)
        first = [int(part) for part in session.run(element)]
        session.run([v.assign(100), r.assign(100)])
        session.run(iterator.initializer)
        return first, _all(session, element)


def optionals(tf):
    """Elements that may be missing."""
    X = tf.data.experimental
    iterator = tf.data.make_one_shot_iterator(tf.data.Dataset.range(2))
    optional = X.get_next_as_optional(iterator)
    has = optional.has_value()
    value = tf.cond(has, optional.get_value, lambda: tf.constant(-1, tf.int64))
    present = X.Optional.from_value((tf.constant(3), tf.constant([1.0])))
    empty = X.Optional.empty(tf.TensorSpec([], tf.int32))
    with tf.Session() as session:
        turns = [np.asarray(session.run([has, value])).tolist() for _ in range(3)]
        pair = [np.asarray(part).tolist() for part in session.run(present.get_value())]
        missing = _tried(lambda: session.run(empty.get_value()))
        flags = [bool(flag) for flag in session.run([present.has_value(), empty.has_value()])]
        return turns, pair, missing, flags


def continues(tf):
    """Behind an element that fails comes the next."""
    dataset = tf.data.Dataset.range(5).map(lambda x: tf.gather([1, 2, 9, 3], 3 - x * 2 % 5))
    element = tf.data.make_one_shot_iterator(dataset.batch(1)).get_next()
    with tf.Session() as session:
        outcomes = _all(session, element)
        return [row[0] if isinstance(row[0], str) else row for row in outcomes]


def generator_runs(tf):
    """A generator begins anew with each time that one goes through."""
    starts = []

    def numbers():
        starts.append(0)
        yield from range(len(starts), len(starts) + 2)

    dataset = tf.data.Dataset.from_generator(numbers, tf.int64, []).repeat(2)
    iterator = tf.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    with tf.Session() as session:
        results = []
        for _ in range(2):
            session.run(iterator.initializer)
            results.append(_all(session, element))
    return results


def seeds(tf):
    """Orders by the graph's seed and an operation's."""
    tf.set_random_seed(11)
    D = tf.data.Dataset
    datasets = [D.range(8).shuffle(8), D.range(8).shuffle(8, seed=2), D.range(8).shuffle(3, seed=0)]
    elements = [tf.data.make_one_shot_iterator(dataset).get_next() for dataset in datasets]
    with tf.Session() as session:
        return [_all(session, element) for element in elements]


def trained(tf):
    """A model learns from batches of a pipeline."""
    x = np.arange(12, dtype=np.float32).reshape(12, 1) / 12
    dataset = tf.data.Dataset.from_tensor_slices((x, 3 * x + 1)).shuffle(12, seed=5).repeat(20)
    features, labels = tf.data.make_one_shot_iterator(dataset.batch(4).prefetch(1)).get_next()
    w = tf.get_variable("w", [1, 1], initializer=tf.zeros_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    loss = tf.losses.mean_squared_error(labels, tf.matmul(features, w) + b)
    step = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    losses = []
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        while len(losses) < 30:
            losses.append(round(float(session.run([loss, step])[0]), 4))
    return losses


def imported(tf):
    """A graph with a pipeline is written and read again."""
    dataset = tf.data.Dataset.range(4).map(lambda x: x * x).batch(3)
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    name = element.name
    graph_def = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return _all(session, graph.get_tensor_by_name(name))


def one_shot_checks(tf):
    """What only checks, or has a value of its own, is no state that a one-shot iterator reads."""
    D = tf.data.Dataset
    size = tf.placeholder_with_default(np.int64(2), [])
    with tf.control_dependencies([tf.Assert(tf.greater(size, 1), ["small"])]):
        size = tf.identity(size)
    element = tf.data.make_one_shot_iterator(D.range(3).batch(size)).get_next()
    folder = tf.test.get_temp_dir()
    for name in ("b", "a"):
        with tf.gfile.GFile(f"{folder}/{name}.line", "w") as file:
            file.write(name)
    files = D.list_files(folder + "/*.line", shuffle=False).flat_map(tf.data.TextLineDataset)
    line = tf.data.make_one_shot_iterator(files).get_next()
    with tf.Session() as session:
        return [_all(session, element), session.run(line).decode()]


def saved(tf):
    """Elements in files, read in the order of a function; what was not saved; wrong shards."""
    D = tf.data.Dataset
    folder = tempfile.mkdtemp()
    dataset = D.range(7).map(lambda x: (x, tf.as_string(x)))
    saves = [
        dataset.save(folder + "/plain"),
        dataset.save(folder + "/packed", "GZIP", shard_func=lambda x, text: x % 3),
    ]
    loads = [
        D.load(folder + "/plain", dataset.element_spec),
        D.load(folder + "/packed", dataset.element_spec, "GZIP", lambda d: d.flat_map(lambda x: x)),
    ]
    results = []
    with tf.Session() as session:
        for load in loads:
            iterator = tf.data.make_initializable_iterator(load)
            try:
                session.run(iterator.initializer)
            except tf.errors.NotFoundError as error:
                results.append("Could not find metadata file" in error.message)
            session.run(saves)
            session.run(iterator.initializer)
            element = iterator.get_next()
            listed = []
            for _ in range(7):
                number, text = session.run(element)
                listed.append([int(number), text.decode()])
            results.append(listed)
            results.append(int(session.run(load.cardinality())))
    return results


def snapshots(tf):
    """What was computed once is read the second time; a part of it is not."""
    calls = []

    def noted(x):
        calls.append(int(x))
        return x * x

    D, folder = tf.data.Dataset, tempfile.mkdtemp()
    dataset = D.range(5).map(lambda x: tf.py_func(noted, [x], tf.int64, stateful=False))
    dataset = dataset.map(lambda x: tf.ensure_shape(x, [])).snapshot(folder, compression=None)
    results = []
    with tf.Session() as session:
        for _ in range(2):
            iterator = tf.data.make_initializable_iterator(dataset)
            session.run(iterator.initializer)
            element = iterator.get_next()
            results.append(_all(session, element))
            results.append(len(calls))
    return results


PROGRAMS = (
    saved, snapshots, initializable, one_shot, one_shot_checks, two_consumers, from_structure,
    from_string_handle, captured, optionals, continues, generator_runs, seeds, trained, imported,
)  # fmt: skip
