"""Programs of TF1 with queues, accumulators and input pipelines.

What TensorFlow makes of them is stored in queue_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

import re
import threading
import time

import numpy as np

PROGRAMS = []
QUEUES = {
    "fifo": lambda tf, **more: tf.FIFOQueue(10, tf.float32, shapes=[[]], name="q", **more),
    "padding": lambda tf, **more: tf.PaddingFIFOQueue(10, tf.float32, [[]], name="q", **more),
    "shuffle": lambda tf, **more: tf.RandomShuffleQueue(
        10, 1, tf.float32, shapes=[[]], name="q", **more
    ),
}


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


def plain(value):
    """Arrays as lists, strings as text."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    return value.decode() if isinstance(value, bytes) else value


def outcome(function) -> list:
    """What a function gives, or the type and the words of its error."""
    try:
        return [plain(function())]
    except Exception as error:  # any that TensorFlow raises is an answer
        words = str(error).split("\n\nOriginal")[0].split("\n\t")[0].strip()
        words = words.splitlines()[-1] if words.startswith("Graph execution") else words
        return [type(error).__name__, re.sub(r"'_\d+_", "'_", words)]


def started(session, *fetches) -> list:
    """Threads that run something each, and what came of it."""
    outcomes = [[] for _ in fetches]

    def run(i):
        outcomes[i] += outcome(lambda: session.run(fetches[i]))

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(fetches))]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    return [threads, outcomes]


def joined(threads) -> None:
    """Waits for the end of threads."""
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


@program
def closed_queues(tf):
    """What is left of closed queues, and what is refused."""
    results = []
    for make in QUEUES.values():
        with tf.Graph().as_default(), tf.Session() as session:
            queue = make(tf)
            session.run(queue.enqueue_many([[1.0, 2.0, 3.0]]))
            results.append(session.run([queue.size(), queue.is_closed()]))
            session.run(queue.close())
            fetches = [
                *(queue.is_closed(), queue.dequeue_many(5), queue.size(), queue.enqueue(4.0)),
                *(queue.close(), queue.close(cancel_pending_enqueues=True), queue.dequeue_many(0)),
            ]
            results += [outcome(lambda x=x: session.run(x)) for x in fetches]
            results.append(sorted(plain(session.run(queue.dequeue_up_to(5)))))
            more = [queue.dequeue(), queue.dequeue_up_to(2)]
            results += [outcome(lambda x=x: session.run(x)) for x in more]
    return plain(results)


@program
def declarations(tf):
    """Names, dtypes and shapes of what queues give, and what is refused when graphs are made."""
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(
            10,
            [tf.float32, tf.int32],
            shapes=[[2], []],
            names=["a", "b"],
            shared_name="s",
            name="n",
        )
        many = queue.dequeue_many(tf.placeholder(tf.int32, []))
        single = tf.FIFOQueue(2, tf.float32)
        dequeued = [
            *(queue.dequeue_many(2).values(), many.values(), queue.dequeue_up_to(2).values()),
            *(queue.dequeue().values(), [single.dequeue(), queue.size(), queue.is_closed()]),
            tf.PaddingFIFOQueue(10, [tf.float32], [[None]]).dequeue_many(3),
            tf.PriorityQueue(10, tf.string, [[]]).dequeue(),
        ]
        tensors = [
            x for group in dequeued for x in (group if not hasattr(group, "op") else [group])
        ]
        operations = [
            *(queue.enqueue({"a": [1.0, 2.0], "b": 1}), single.enqueue(1.0), single.close()),
            single.enqueue_many([[1.0]]),
        ]
        refused = [
            lambda: queue.enqueue((1.0, 2)),
            lambda: queue.enqueue({"a": [1.0, 2.0]}),
            lambda: queue.enqueue({"a": [1.0, 2.0, 3.0], "b": 1}),
            lambda: queue.enqueue_many({"a": [[1.0, 2.0]], "b": [1, 2]}),
            lambda: single.enqueue(tf.constant(1)),
            lambda: single.enqueue_many([1.0]),
            lambda: tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2]]),
            lambda: tf.FIFOQueue(10, [tf.float32], shapes=[[None]]),
            lambda: tf.PaddingFIFOQueue(10, [tf.float32], shapes=None),
            lambda: tf.FIFOQueue(10, [tf.float32], names=["a", "b"]),
            lambda: tf.QueueBase.from_list(0, [single, tf.FIFOQueue(5, tf.int32)]),
            lambda: tf.QueueBase.from_list(0, [single, 1]),
        ]
        return [
            [[x.name, x.dtype.name, str(x.shape)] for x in tensors],
            [[x.name, x.type, [tensor.name for tensor in x.inputs]] for x in operations],
            [outcome(function) for function in refused],
            [x.name for x in queue.dtypes],
            [str(shape) for shape in queue.shapes],
            queue.names,
        ]


@program
def shared_queues(tf):
    """Queues of one name are one in a session, and none in another; they must be alike."""
    with tf.Graph().as_default(), tf.Session() as session, tf.Session() as other:
        a, b = (tf.FIFOQueue(5, tf.float32, shared_name="s") for _ in range(2))
        others = [
            tf.FIFOQueue(7, tf.float32, shared_name="s"),
            tf.FIFOQueue(5, tf.int32, shared_name="s"),
            tf.FIFOQueue(5, tf.float32, shapes=[[]], shared_name="s"),
            tf.RandomShuffleQueue(5, 1, tf.float32, shared_name="s"),
        ]
        which = tf.placeholder(tf.int32, [])
        chosen = tf.QueueBase.from_list(which, [tf.FIFOQueue(9, tf.float32), a])
        fetches = [b.size(), *(queue.size() for queue in others)]
        take, size = b.dequeue(), chosen.size()
        session.run(a.enqueue(4.0))
        return [
            *(outcome(lambda x=x: session.run(x)) for x in fetches),
            *(plain(session.run(size, {which: i})) for i in (0, 1)),
            plain(other.run(fetches[0])),
            plain(session.run(take)),
        ]


@program
def values_of_queues(tf):
    """Elements with padding, in the order of numbers, of wrong shapes."""
    with tf.Graph().as_default(), tf.Session() as session:
        padding = tf.PaddingFIFOQueue(10, [tf.float32, tf.string], [[None], [2, None]])
        session.run(padding.enqueue(([1.0, 2.0], [["a"], ["b"]])))
        session.run(padding.enqueue(([3.0], [["a", "c"], ["b", "d"]])))
        priority = tf.PriorityQueue(10, tf.string, [[]])
        session.run(priority.enqueue_many([[3, 1, 2], ["a", "b", "c"]]))
        x = tf.placeholder(tf.float32)
        wrong = tf.FIFOQueue(5, [tf.float32], shapes=[[2]]).enqueue(x)
        pair = tf.FIFOQueue(5, [tf.float32, tf.float32], shapes=[[], []]).enqueue_many([x, [1.0]])
        any_pair = tf.FIFOQueue(5, [tf.float32, tf.float32]).enqueue_many([x, [1.0]])
        return [
            plain(session.run(padding.dequeue_many(2))),
            plain(session.run(priority.dequeue_many(2))),
            outcome(lambda: session.run(wrong, {x: [1.0, 2.0, 3.0]})),
            outcome(lambda: session.run(pair, {x: [1.0, 2.0, 3.0]})),
            outcome(lambda: session.run(any_pair, {x: [1.0, 2.0, 3.0]})),
        ]


@program
def waiting_threads(tf):
    """What comes of threads that wait when others close a queue, take from it or add to it."""
    results = []
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        add, many, take = queue.enqueue(1.0), queue.enqueue_many([[2.0, 3.0]]), queue.dequeue()
        close, cancel, size = queue.close(), queue.close(cancel_pending_enqueues=True), queue.size()
        session.run(add)
        threads, outcomes = started(session, add, many)
        results.append(plain(session.run([take, take, take])[:1]))
        results.append([plain(session.run(take)) for _ in range(3)])
        joined(threads)
        results.append(list(outcomes))
        session.run(add)
        threads, outcomes = started(session, add)
        closing, closed = started(session, close)
        results += [list(outcomes), list(closed)]
        results.append([plain(session.run(take)) for _ in range(2)])
        joined([*threads, *closing])
        results += [outcomes, closed, outcome(lambda: session.run(take))]
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        add, take, size = queue.enqueue(1.0), queue.dequeue_many(2), queue.size()
        cancel = queue.close(cancel_pending_enqueues=True)
        session.run(add)
        threads, outcomes = started(session, add)
        session.run(cancel)
        joined(threads)
        results += [outcomes, plain(session.run(size)), outcome(lambda: session.run(take))]
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take, close = queue.dequeue(), queue.close()
        threads, outcomes = started(session, take)
        session.run(close)
        joined(threads)
        results.append(outcomes)
    return results


@program
def ends_of_runs(tf):
    """What waits when time is over or the session is closed."""
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take, add, size = queue.dequeue(), queue.enqueue(1.0), queue.size()
        results = []
        with tf.Session() as session:
            options = tf.RunOptions(timeout_in_ms=100)
            results.append(outcome(lambda: session.run(take, options=options)))
        config = tf.ConfigProto(operation_timeout_in_ms=100)
        with tf.Session(config=config) as session:
            session.run(add)
            results.append(outcome(lambda: session.run(add)))
            results.append(plain(session.run(size)))
        session = tf.Session()
        session.run(add)
        threads, outcomes = started(session, add)
        session.close()
        joined(threads)
        results += [outcomes[0][:1], outcome(lambda: session.run(take))]
        return results


@program
def one_run(tf):
    """Operations of one run that wait for one another, in any order of the graph."""
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(1, tf.float32, shapes=[[]], name="q")
        take, add = queue.dequeue(), queue.enqueue(3.0)
        results = [plain(session.run([take, add]))]
        session.run(add)
        results.append(plain(session.run([add, take])))
        accumulator = tf.ConditionalAccumulator(tf.float32, shape=[])
        mean, apply = accumulator.take_grad(1), accumulator.apply_grad(7.0)
        return [*results, plain(session.run([mean, apply])), plain(session.run(queue.size()))]


@program
def inside_functions(tf):
    """Queues that branches and loops use."""
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(10, tf.int32, shapes=[[]])
        flag = tf.placeholder(tf.bool, [])

        def add(i):
            with tf.control_dependencies([queue.enqueue(i * i)]):
                return i + 1

        loop = tf.while_loop(lambda i: i < 4, add, [tf.constant(0)], parallel_iterations=1)
        branch = tf.cond(flag, queue.dequeue, lambda: queue.size() + 100)
        return [
            plain(session.run(loop)),
            [plain(session.run(branch, {flag: choice})) for choice in (True, False, True)],
        ]


@program
def accumulators(tf):
    """Means and sums of gradients, and which count."""
    with tf.Graph().as_default(), tf.Session() as session:
        dense = tf.ConditionalAccumulator(tf.float32, shape=[2], name="Q")
        total = tf.ConditionalAccumulator(tf.float32, reduction_type="SUM")
        x = tf.placeholder(tf.float32)
        take, count = dense.take_grad(2), dense.num_accumulated()
        steps = [
            *(dense.apply_grad([1.0, 2.0]), dense.apply_grad([3.0, 4.0]), count, take, count),
            *(dense.apply_grad([1.0, 2.0]), count, dense.apply_grad([1.0, 1.0], 1), count),
            *(dense.set_global_step(5), dense.apply_grad([1.0, 1.0], local_step=4), count),
            *(dense.apply_grad(x, 10), dense.take_grad(0)),
            *(total.apply_grad([1.0, 2.0]), total.apply_grad([1.0, 2.0]), total.take_grad(1)),
            *(total.apply_grad([1.0], 5), total.apply_grad([[1.0]], 5)),
        ]
        results = [outcome(lambda s=s: session.run(s, {x: [1.0, 2.0, 3.0]})) for s in steps]
        waiting = tf.ConditionalAccumulator(tf.float32, shape=[])
        mean, add = waiting.take_grad(2), waiting.apply_grad(1.5)
        threads, outcomes = started(session, mean)
        session.run(add)
        results.append(list(outcomes))
        session.run(add)
        joined(threads)
        return [
            *results,
            outcomes,
            str(take),
            take.op.type,
            outcome(lambda: dense.apply_grad([1.0])),
        ]


@program
def sparse_accumulators(tf):
    """Means of rows."""
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.SparseConditionalAccumulator(tf.float32, shape=[3, 2], name="S")
        total = tf.SparseConditionalAccumulator(tf.float32, reduction_type="SUM")
        slices = tf.IndexedSlices(indices=[0, 2], values=np.float32([[1, 2], [3, 4]]))
        ones = np.float32([[1, 1], [1, 1]])
        steps = [
            *(rows.apply_indexed_slices_grad(slices), rows.apply_grad([1, 2], ones)),
            *(rows.num_accumulated(), rows.take_indexed_slices_grad(2)),
            *(rows.apply_grad([2, 0], ones, [3, 2], 7), rows.apply_grad([1, 0], ones, [3, 2], 7)),
            rows.take_grad(2),
            *(rows.apply_grad([0, 3], ones, local_step=9), rows.apply_grad([0], ones, None, 9)),
            rows.apply_grad([0], ones[:1], [4, 2], 9),
            rows.apply_grad([[0]], ones[:1], None, 9),
            rows.apply_grad([0, 1], np.ones((2, 3), np.float32), None, 9),
            *(total.apply_grad([1], [5.0]), total.apply_grad([1], [6.0]), total.take_grad(1)),
        ]
        return [outcome(lambda s=s: session.run(s)) for s in steps]


def produced(tf, build, n: int = 10) -> list:
    """What a pipeline gives until it ends, and the names of its operations."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        results = build()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator, values = tf.train.Coordinator(), []
        threads = tf.train.start_queue_runners(session, coordinator)
        for _ in range(n):
            values.append(outcome(lambda: session.run(results)))
            if len(values[-1]) > 1:  # how much was missing depends on which thread is first
                values[-1][1] = values[-1][1].partition(" (requested")[0]
                break
        coordinator.request_stop()
        coordinator.join(threads)
        names = [op.name for op in graph.get_operations() if "Queue" in op.type]
        names = [name for name in names if "cond" not in name]
        summaries = [x.name for x in tf.get_collection(tf.GraphKeys.SUMMARIES)]
        return [values, names, summaries]


def numbers(tf, n: int, **more):
    """The numbers below n, once."""
    return tf.train.range_input_producer(n, num_epochs=1, shuffle=False, **more).dequeue()


PIPELINES = {
    "strings": lambda tf: tf.train.string_input_producer(
        ["a", "b", "c"], num_epochs=2, shuffle=False
    ).dequeue(),
    "slices": lambda tf: tf.train.slice_input_producer(
        [np.arange(3), ["x", "y", "z"]], num_epochs=1, shuffle=False
    ),
    "batch": lambda tf: tf.train.batch([numbers(tf, 5)], 2),
    "smaller": lambda tf: tf.train.batch([numbers(tf, 5)], 2, allow_smaller_final_batch=True),
    "dictionary": lambda tf: tf.train.batch({"b": numbers(tf, 4), "a": tf.constant("x")}, 2),
    "padded": lambda tf: tf.train.batch(
        [tf.fill([numbers(tf, 4)], 1.0)], 2, dynamic_pad=True, name="p"
    ),
    "rows": lambda tf: tf.train.batch(
        [tf.train.limit_epochs(tf.constant([1, 2, 3, 4]), 2)], 3, enqueue_many=True
    ),
    "some_rows": lambda tf: tf.train.maybe_batch(
        [tf.train.limit_epochs(tf.constant([1, 2, 3, 4]), 2)],
        [True, False, True, True],
        3,
        enqueue_many=True,
    ),
    "sparse": lambda tf: tf.train.batch(
        [tf.SparseTensor([[0, 1]], tf.reshape(tf.cast(numbers(tf, 4), tf.float32), [1]), [1, 5])],
        2,
    ),
    "sparse_rows": lambda tf: tf.train.batch(
        [
            tf.SparseTensor(
                [[0, 1], [1, 0]],
                tf.train.limit_epochs(tf.constant([1.0, 2.0]), 2),
                [2, 3],
            )
        ],
        2,
        enqueue_many=True,
    ),
}


def _conditional(tf):
    number = numbers(tf, 6)
    return tf.train.maybe_batch([number], tf.equal(number % 2, 0), 3)


PIPELINES["some"] = _conditional


@program
def refused_pipelines(tf):
    """What is refused when pipelines are made."""
    train = tf.train
    refused = [
        lambda: train.limit_epochs(1, 0),
        lambda: train.string_input_producer([]),
        lambda: train.batch([], 2),
        lambda: train.batch([tf.placeholder(tf.float32)], 2),
        lambda: train.maybe_batch([1.0], [True], 2),
        lambda: train.slice_input_producer([]),
        lambda: train.batch_join([[1.0], [1]], 2),
        lambda: train.batch_join([], 2),
        lambda: train.input_producer(tf.placeholder(tf.float32)),
        lambda: train.batch([tf.placeholder(tf.float32, [None])], 2),
    ]
    with tf.Graph().as_default():
        return [re.sub(r"Tensor\(.*", "", outcome(f)[1]) for f in refused]


@program
def any_order(tf):
    """What pipelines give whose order is not said."""

    def shuffled():
        return tf.train.shuffle_batch([numbers(tf, 6)], 3, capacity=10, min_after_dequeue=2, seed=1)

    def of_several():
        queue = tf.train.range_input_producer(6, num_epochs=1, shuffle=False)
        return tf.train.batch_join([[queue.dequeue()], [queue.dequeue()]], 2)

    results = []
    for build in (shuffled, of_several):
        values, names, summaries = produced(tf, build)
        total = sorted(x for batch in values if len(batch) == 1 for x in batch[0])
        results.append([total, names, summaries])
    return results


@program
def shuffled_elements(tf):
    """Elements of a queue in random order, as two seeds have it."""
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.RandomShuffleQueue(20, 5, [tf.int32], [[]], seed=3)
        session.run(queue.enqueue_many([np.arange(12)]))
        values = [queue.dequeue_many(4), queue.dequeue_up_to(2)]
        taken = [plain(session.run(value)) for value in values]
        session.run([queue.enqueue(20), queue.close()])
        return [*taken, plain(session.run(queue.dequeue_up_to(9)))]


@program
def described_runner(tf):
    """Queue runners as messages, and those of an imported graph."""
    with tf.Graph().as_default():
        with tf.name_scope("s"):
            numbers(tf, 3)
        (runner,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        message = runner.to_proto()
        fields = [
            *(message.queue_name, list(message.enqueue_op_name), message.close_op_name),
            *(message.cancel_op_name, list(message.queue_closed_exception_types)),
        ]
        texts = [str(runner.to_proto(export_scope=scope)) for scope in ("s", "other")]
        graph = tf.train.export_meta_graph()
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(graph, import_scope="in")
        (copied,) = tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        names = [copied.name, copied.enqueue_ops[0].name, copied.close_op.name]
        session.run([tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        joined(threads[:1])
        size = session.graph.get_tensor_by_name("in/s/input_producer/input_producer_Size:0")
        left = plain(session.run(size))
        coordinator.request_stop()
        coordinator.join(threads)
        return [fields, texts, names, left]


def outcomes(tf):
    """What programs give and pipelines produce."""
    results = {function.__name__: function(tf) for function in PROGRAMS}
    return results | {
        name: produced(tf, lambda build=build: build(tf)) for name, build in PIPELINES.items()
    }
