"""What outlives a run: rows of loops in optimizers' slots, kept tensors, variables of servers.

Given `tf`; kept_programs.json has what TensorFlow gives.
"""

from __future__ import annotations

import re
import socket

import numpy as np

PROGRAMS = []


def program(function):
    """Lists a program."""
    PROGRAMS.append(function)
    return function


@program
def rows_of_loops(tf, numbers):
    """Rows that loops and branches look up; rows that none looks up keep their momenta."""
    results, ids = {}, tf.placeholder(tf.int32, [None])
    optimizers = [
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.AdamOptimizer(0.1),
        tf.train.RMSPropOptimizer(0.1),
        tf.train.FtrlOptimizer(0.1),
    ]
    pairs = [(optimizer, use) for use in (True, False) for optimizer in optimizers]
    for optimizer, use in pairs:
        name, ones = f"{type(optimizer).__name__}{use:d}", tf.ones_initializer()
        table = tf.get_variable(name, [4, 2], initializer=ones, use_resource=use)

        def body(i, total, table=table):
            rows = tf.nn.embedding_lookup(table, ids[i : i + 2])
            more = tf.cond(i > 0, lambda: tf.reduce_sum(tf.gather(table, [i])), lambda: 0.0)
            return i + 1, total + tf.reduce_sum(tf.square(rows)) + more

        loss = tf.while_loop(lambda i, _: i < 2, body, [0, 0.0])[1]
        train, slices = optimizer.minimize(loss), tf.gradients(loss, table)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            fed = [[1, 2, 2], [3, 3, 1], [1, 1, 1]]
            losses = [session.run([loss, train], {ids: row})[0] for row in fed]
            whole = session.run(tf.convert_to_tensor(slices), {ids: fed[0]})
            kind = type(slices).__name__
            results |= {f"{name} losses": losses, f"{name} gradient": whole, f"{name} is": kind}
            results[name] = session.run(table)
    return results


@program
def kept_tensors(tf, numbers):
    """Handles of what a session keeps; a function without effects; two operations."""
    product, calls = tf.constant([3.0, 4.0]) * 2, []
    handle, x = tf.get_session_handle(product, name="kept"), tf.placeholder(tf.float32, [2])
    once = tf.py_func(lambda: calls.append(1) or np.int64(len(calls)), [], tf.int64, stateful=False)
    results = {}
    with tf.Session() as session:
        first = session.run(handle)
        holder, tensor = tf.get_session_tensor(first.handle, tf.float32)
        results["handle"], results["value"] = str(first), first.eval()
        results["read"] = session.run(tensor + 1, {holder: first.handle})
        results["fed"] = session.run(x * 2, {x: first})
        holder_2, delete = tf.delete_session_tensor(first.handle)
        session.run(delete, {holder_2: first.handle})
        second = session.run(handle)
        second.delete()
        third = session.run(handle)
        results["raw handle"] = third.get_raw_handle()
        results["read again"] = session.run(tensor, {holder: results["raw handle"]})
        refused = {
            "gone": lambda: session.run(tensor, {holder: first.handle}),
            "deleted": lambda: session.run(delete, {holder_2: first.handle}),
            "eval": second.eval,
            "raw": third.delete,
        }
        for key, call in refused.items():
            with np.testing.assert_raises((tf.errors.InvalidArgumentError, TypeError)) as raised:
                call()
            match = re.search("The tensor with|Failed to delete|Persistent", str(raised.exception))
            results[key] = match[0]
        rows = tf.constant([[3.0, 1.0, 2.0, 5.0], [0.0, 9.0, 8.0, 8.0]])
        both = [tf.raw_ops.NthElement(input=rows, n=1, reverse=back) for back in (False, True)]
        results["nth"], results["fact"] = session.run(both), session.run(tf.user_ops.my_fact())
        results["fact"] = results["fact"].decode()
        results["once"] = [session.run(once) for _ in range(2)]
        passed = tf.py_func(np.sin, [product], tf.float32)
        results["nothing flows"] = tf.gradients(passed, product)[0] is None
    return results


@program
def parameter_servers(tf, numbers):
    """Two workers in turn, two servers with the variables, and a variable of each worker."""
    sockets = [socket.socket() for _ in range(4)]
    for listener in sockets:
        listener.bind(("localhost", 0))
    places = [f"localhost:{listener.getsockname()[1]}" for listener in sockets]
    for listener in sockets:
        listener.close()
    spec = tf.train.ClusterSpec({"worker": places[:2], "ps": places[2:]})
    ps, workers = ([tf.train.Server(spec, job, i) for i in range(2)] for job in ("ps", "worker"))
    data = numbers.standard_normal((2, 8, 3)).astype(np.float32)
    sessions, steps, starts = [], [], []
    for i, worker in enumerate(workers):
        device = f"/job:worker/task:{i}"
        setter = tf.train.replica_device_setter(cluster=spec, worker_device=device)
        with tf.Graph().as_default() as graph, tf.device(setter):
            step = tf.train.get_or_create_global_step()
            w = tf.get_variable("w", [3, 1], initializer=tf.ones_initializer())
            with tf.device(device):
                mine = tf.get_variable("mine", initializer=10.0 * i, trainable=False)
            target = data[i].sum(1, keepdims=True) * 2
            loss = tf.reduce_mean(tf.square(tf.matmul(tf.constant(data[i]), w) - target))
            train = tf.train.MomentumOptimizer(0.05, 0.9).minimize(loss, global_step=step)
            steps.append([loss, tf.assign_add(mine, 1.0), train])
            starts.append(mine.initializer if i else tf.global_variables_initializer())
            devices = [v.device for v in tf.global_variables()]
        sessions.append(tf.Session(worker.target, graph=graph))
    for session, start in zip(sessions, starts, strict=True):
        session.run(start)
    losses = [sessions[i % 2].run(steps[i % 2])[:2] for i in range(6)]
    names = ["global_step:0", "w:0", "mine:0"]
    ends = {name: [session.run(name) for session in sessions] for name in names}
    return {"losses": losses, "devices": devices, "servers": len(ps), **ends}
