"""Programs of TF1 whose operations hand values to one another by queues, barriers and maps.

Loops and branches are among them, and the names in these.
What TensorFlow makes of them is recorded in exchange_programs.json. Each gives what JSON can hold.
"""

from __future__ import annotations

import threading
from functools import partial

import numpy as np


def plain(value):
    """An array as lists; its strings as text."""
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    array = np.asarray(value)
    if array.dtype.kind in "OS":
        array = np.vectorize(lambda x: x.decode(), otypes=[object])(array)
    return array.tolist()


def failure(tf, run):
    """The type and the words of the error of a run, up to where an operation is named."""
    try:
        run()
    except tf.errors.OpError as error:
        words = error.message.split("\n\t [[")[0].split("\n")
        line = words[-1] if words[0] == "Graph execution error:" else words[0]
        return [type(error).__name__, line.removeprefix("{{node take}} ")]
    return None


def waits_in_one_run(tf):
    """What is taken is put in by the same run."""
    queue = tf.queue.FIFOQueue(1, [tf.float32], [()])
    taken, put = queue.dequeue(), queue.enqueue(tf.constant(3.0) + 1)
    with tf.Session() as session:
        return plain(session.run([taken, put])[0])


def chain_of_queues(tf):
    """What is taken of one queue is put in another."""
    first, second = (tf.queue.FIFOQueue(1, [tf.float32], [()]) for _ in range(2))
    taken = first.dequeue()
    put, last = second.enqueue(taken * 2), second.dequeue() * 3
    start = first.enqueue(tf.random_uniform([]) * 0 + 5)
    with tf.Session() as session:
        return plain(session.run([last, put, start])[0])


def more_than_fits(tf):
    """Three elements go through a queue that holds one."""
    queue = tf.queue.FIFOQueue(1, [tf.float32], [()])
    put = [queue.enqueue(1.0 + i) for i in range(3)]
    taken = [queue.dequeue() for _ in range(3)]
    with tf.Session() as session:
        return sorted(plain(session.run(put + taken)[3:]))


def put_in_branch(tf):
    """A branch puts in what is taken outside of it, in TF1's own form."""
    queue = tf.queue.FIFOQueue(1, [tf.float32], [()])
    taken = queue.dequeue()
    condition = tf.placeholder_with_default(True, [])
    otherwise, then = tf.raw_ops.Switch(data=7.0, pred=condition)
    put = queue.enqueue(then)
    with tf.Session() as session:
        return plain(session.run([taken, put])[0]) + 0 * len(otherwise.name)


def taken_in_loop(tf):
    """A loop takes what the run puts in."""
    queue = tf.queue.FIFOQueue(1, [tf.int32], [()])
    put = [queue.enqueue(2) for _ in range(3)]
    total = tf.while_loop(lambda i: i < 5, lambda i: i + queue.dequeue(), [0])
    with tf.Session() as session:
        return plain(session.run([total, put])[0])


def gradients_taken(tf):
    """The mean of two gradients, one of which depends on a queue."""
    accumulator = tf.ConditionalAccumulator(tf.float32, ())
    queue = tf.queue.FIFOQueue(1, [tf.float32], [()])
    taken = accumulator.take_grad(2)
    apply = [accumulator.apply_grad(queue.dequeue()), accumulator.apply_grad(3.0)]
    with tf.Session() as session:
        return plain(session.run([taken, *apply, queue.enqueue(1.0)])[0])


def between_threads(tf):
    """Threads wait for one another at two queues."""
    there, back = (tf.queue.FIFOQueue(2, [tf.int32], [()]) for _ in range(2))
    answer = back.enqueue(there.dequeue() * 2)
    x = tf.placeholder(tf.int32, [])
    ask, answered = there.enqueue(x), back.dequeue()
    with tf.Session() as session:
        threads = [threading.Thread(target=session.run, args=(answer,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        values = []
        for i in range(3):
            session.run(ask, {x: i})
            values.append(plain(session.run(answered)))
        for thread in threads:
            thread.join()
    return values


def _barrier(tf, **attrs):
    types = [tf.float32, tf.float32]
    return tf.raw_ops.Barrier(component_types=types, shapes=[(), (2,)], **attrs)


def _insert(tf, barrier, index, keys, values):
    values = np.array(values, np.float32)
    return tf.raw_ops.BarrierInsertMany(
        handle=barrier, keys=keys, values=values, component_index=index
    )


def _take(tf, barrier, count, **attrs):
    types = [tf.float32, tf.float32]
    return tf.raw_ops.BarrierTakeMany(
        handle=barrier, num_elements=count, component_types=types, name="take", **attrs
    )


def barrier(tf):
    """Elements are there when all their components are, in the order of their first ones."""
    handle = _barrier(tf)
    ready = tf.raw_ops.BarrierReadySize(handle=handle)
    incomplete = tf.raw_ops.BarrierIncompleteSize(handle=handle)
    sizes = []
    with tf.Session() as session:
        session.run(_insert(tf, handle, 0, ["a", "b", "c"], [10.0, 20.0, 30.0]))
        sizes.append(plain(session.run([ready, incomplete])))
        session.run(_insert(tf, handle, 1, ["c", "a"], [[3.0, 3.5], [1.0, 1.5]]))
        sizes.append(plain(session.run([ready, incomplete])))
        taken = session.run(_take(tf, handle, 2))
        sizes.append(plain(session.run([ready, incomplete])))
    start = -(2**63)
    return [sizes, plain(taken[0] - start), plain(taken[1]), plain(list(taken[2]))]


def barrier_in_one_run(tf):
    """What is taken becomes complete in the same run."""
    handle = _barrier(tf)
    taken = _take(tf, handle, 2)
    inserts = [
        _insert(tf, handle, 1, ["x", "y"], [[1, 2], [3, 4]]),
        _insert(tf, handle, 0, ["y", "x"], [5, 6]),
    ]
    with tf.Session() as session:
        result = session.run([taken, inserts])[0]
    pairs = zip(plain(result[1]), *map(plain, result[2]), strict=True)
    return sorted([*pair] for pair in pairs)


def barrier_refuses(tf):
    """A component that an element has already; a wrong shape; an index that there is not."""
    handle = _barrier(tf, shared_name="b")
    with tf.Session() as session:
        session.run(_insert(tf, handle, 0, ["a"], [1.0]))
        again = _insert(tf, handle, 0, ["a"], [1.0])
        wide = _insert(tf, handle, 1, ["a"], [[1.0, 2.0, 3.0]])
        return [failure(tf, partial(session.run, x)) is not None for x in (again, wide)]


def barrier_closed(tf):
    """What was begun may be completed; nothing new comes in; too few are an error."""
    handle = _barrier(tf, shared_name="b")
    with tf.Session() as session:
        session.run(_insert(tf, handle, 0, ["a", "b"], [1.0, 2.0]))
        session.run(_insert(tf, handle, 1, ["a"], [[1.0, 1.0]]))
        session.run(tf.raw_ops.BarrierClose(handle=handle))
        new = failure(tf, lambda: session.run(_insert(tf, handle, 0, ["c"], [1.0])))
        session.run(_insert(tf, handle, 1, ["b"], [[2.0, 2.0]]))
        small = session.run(_take(tf, handle, 3, allow_small_batch=True))
        empty = failure(tf, lambda: session.run(_take(tf, handle, 1)))
    return [new[0], plain(small[1]), plain(list(small[2])), empty[0]]


def barrier_cancelled(tf):
    """With pending ones cancelled, what was begun is gone."""
    handle = _barrier(tf, shared_name="b")
    with tf.Session() as session:
        session.run(_insert(tf, handle, 0, ["a", "b"], [1.0, 2.0]))
        session.run(_insert(tf, handle, 1, ["a"], [[1.0, 1.0]]))
        close = tf.raw_ops.BarrierClose(handle=handle, cancel_pending_enqueues=True)
        session.run(close)
        late = failure(tf, lambda: session.run(_insert(tf, handle, 1, ["b"], [[2.0, 2.0]])))
        incomplete = session.run(tf.raw_ops.BarrierIncompleteSize(handle=handle))
        taken = session.run(_take(tf, handle, 1))
    return [late[0], plain(incomplete), plain(taken[1])]


def sparse_map(tf):
    """Sparse tensors that are kept, one and several at a time, and taken together."""
    first = tf.SparseTensor([[0, 1], [1, 0]], [1.0, 2.0], [2, 3])
    many = tf.SparseTensor([[0, 0, 2], [1, 1, 0]], [3.0, 4.0], [2, 2, 4])
    handle = tf.raw_ops.AddSparseToTensorsMap(
        sparse_indices=first.indices,
        sparse_values=first.values,
        sparse_shape=first.dense_shape,
        shared_name="kept",
    )
    handles = tf.raw_ops.AddManySparseToTensorsMap(
        sparse_indices=many.indices,
        sparse_values=many.values,
        sparse_shape=many.dense_shape,
        shared_name="kept",
    )
    listed = tf.placeholder(tf.int64, [None])
    take = tf.raw_ops.TakeManySparseFromTensorsMap(
        sparse_handles=listed, dtype=tf.float32, shared_name="kept", name="take"
    )
    with tf.Session() as session:
        numbers = [int(session.run(handle)), *session.run(handles).tolist()]
        taken = session.run(take, {listed: numbers[::-1]})
        again = failure(tf, lambda: session.run(take, {listed: numbers[:1]}))
    return [len(set(numbers)), *map(plain, taken), again[0]]


def staging(tf):
    """A staging area: peeked at, taken, emptied."""
    attrs = {"dtypes": [tf.float32, tf.int32], "shared_name": "area"}
    x = tf.placeholder(tf.float32, [2])
    stage = tf.raw_ops.Stage(values=[x, 7], shared_name="area")
    size = tf.raw_ops.StageSize(**attrs)
    peek, unstage = tf.raw_ops.StagePeek(index=1, **attrs), tf.raw_ops.Unstage(**attrs)
    with tf.Session() as session:
        for i in range(3):
            session.run(stage, {x: [i, i + 1]})
        values = [plain(session.run(item)) for item in (size, peek, unstage, size)]
        session.run(tf.raw_ops.StageClear(**attrs))
        values.append(plain(session.run(size)))
        values.append(plain(session.run([unstage, stage], {x: [8, 9]})[0]))
    return values


def _staging_map(tf, prefix, **attrs):
    """Makes an operation of a staging map of float32[2] and int32 by its kind and inputs."""

    def operation(kind, dtypes=(tf.float32, tf.int32), **inputs):
        function = getattr(tf.raw_ops, prefix + kind)
        return function(**inputs, dtypes=list(dtypes), shared_name="map", **attrs)

    return operation


def staging_maps(tf, prefix="Map"):
    """A map of elements: whole and by components, looked at, taken, emptied."""
    operation, values = _staging_map(tf, prefix), []
    key, x = tf.placeholder(tf.int64, []), tf.placeholder(tf.float32, [2])
    whole = operation("Stage", key=key, indices=[0, 1], values=[x, 7])
    first = operation("Stage", key=key, indices=[0], values=[x])
    second = operation("Stage", key=key, indices=[1], values=[9])
    sizes = [operation("Size"), operation("IncompleteSize")]
    both = [operation(kind, key=key, indices=[0, 1]) for kind in ("Peek", "Unstage")]
    with tf.Session() as session:

        def note(fetched, number=0):
            values.append([plain(value) for value in session.run(fetched, {key: number})])

        session.run(whole, {key: 5, x: [1, 2]})
        session.run(whole, {key: 5, x: [8, 8]})
        session.run(first, {key: 3, x: [3, 4]})
        note(sizes)
        session.run(second, {key: 3})
        note(sizes)
        note(both[0], 5)
        note(both[1], 3)
        note(operation("UnstageNoKey", indices=[0, 1]))
        session.run(whole, {key: -2, x: [5, 6]})
        note(sizes)
        session.run(operation("Clear"))
        note(sizes)
    return values


def ordered_staging_map(tf):
    """An ordered map gives the element of the smallest number, a component at a time."""
    operation, values = _staging_map(tf, "OrderedMap"), staging_maps(tf, "OrderedMap")
    key = tf.placeholder(tf.int64, [])
    stage = operation("Stage", key=key, indices=[0, 1], values=[[1.0, 2.0], tf.cast(key, tf.int32)])
    with tf.Session() as session:
        for number in (4, -7, 2):
            session.run(stage, {key: number})
        for _ in range(3):
            number, (vector, scalar) = session.run(operation("UnstageNoKey", indices=[0, 1]))
            values.append([int(number), plain(vector), int(scalar)])
    return values


def staging_map_in_one_run(tf):
    """What is taken is put in by the same run, and taking makes room in another thread."""
    operation = _staging_map(tf, "Map", capacity=1)
    key = tf.placeholder(tf.int64, [])
    stage = operation("Stage", key=key, indices=[0, 1], values=[[1.0, 2.0], tf.cast(key, tf.int32)])
    unstage = operation("Unstage", key=key, indices=[0, 1])
    taken = []
    with tf.Session() as session:
        taken.append(plain(session.run([unstage, stage], {key: 3})[0]))

        def fill():
            for number in range(5):
                session.run(stage, {key: number})

        thread = threading.Thread(target=fill)
        thread.start()
        taken += [plain(session.run(unstage, {key: number})) for number in range(5)]
        thread.join()
    return taken


def staging_map_refuses(tf):
    """Indices and keys that are wrong, components that are there or gone, too many bytes."""
    operation = _staging_map(tf, "Map", memory_limit=64)
    key, x = tf.placeholder(tf.int64), tf.placeholder(tf.float32)
    indices = tf.placeholder(tf.int32, [None])
    stage = operation("Stage", key=key, indices=indices, values=[x], name="take")
    take = operation("Unstage", key=key, indices=indices, name="take")
    with tf.Session() as session:

        def stages(number, at, value=0.0):
            feeds = {key: number, indices: at, x: value}
            return failure(tf, lambda: session.run(stage, feeds))

        outcomes = [stages(1, [0]), stages(1, [0]), stages(1, [2]), stages(1, []), stages([], [0])]
        outcomes += [
            stages([1, 2], [0]),
            stages(2, [0], np.zeros(17, np.float32)),
            stages([1], [1]),
        ]
        wrong = ([1], [0, 1]), (1, [0, 0]), (1, [1, 0]), (1, [0, 2])
        for number, at in wrong:
            feeds = {key: number, indices: at}
            outcomes.append(failure(tf, lambda feeds=feeds: session.run(take, feeds)))
    return outcomes


def names_in_loops(tf):
    """What functions of loops and branches make has TF1's names."""
    noted: list[str] = []

    def note(tensor):
        noted.append(tensor.op.name)
        return tensor

    def body(i, a):
        note(tf.constant(1.0))
        note(tf.identity(a))
        with tf.name_scope("layer"):
            note(a + 1)
        b = tf.cond(
            tf.equal(i, 1), lambda: note(tf.constant(2.0) + a), lambda: note(tf.constant(3.0) * a)
        )
        note(b)
        return note(i + 1), note(tf.tanh(b))

    x = tf.placeholder(tf.float32, [3], name="x")
    i, y = tf.while_loop(lambda i, a: note(note(tf.reduce_sum(a)) < 5.0), body, [0, x])
    for tensor in (i, y, tf.constant(2)):
        note(tensor)
    note(tf.cond(y[0] > 1, lambda: note(y * 2), lambda: note(y * 3)))
    note(tf.while_loop(lambda k: k < 3, lambda k: note(k + 1), [0], name="again"))
    note(tf.placeholder(tf.float32, name="w"))
    tf.map_fn(lambda v: note(v * 2), y)
    return noted


PROGRAMS = (
    *(waits_in_one_run, chain_of_queues, more_than_fits, put_in_branch, taken_in_loop),
    *(gradients_taken, between_threads, barrier, barrier_in_one_run, barrier_refuses),
    *(barrier_closed, barrier_cancelled, sparse_map, staging, staging_maps),
    *(ordered_staging_map, staging_map_in_one_run, staging_map_refuses, names_in_loops),
)


def outcomes(tf):
    """What each program gives in a graph that it has to itself."""
    return each_in_a_graph(tf, PROGRAMS)


def each_in_a_graph(tf, programs):
    """What programs give, by their names, each in a new graph."""
    results = {}
    for function in programs:
        with tf.Graph().as_default():
            results[function.__name__] = function(tf)
    return results
