"""Trainings with a process for each task of a cluster; TensorFlow's losses are beside them.

    python tests/training/sessions/cluster_programs.py LIBRARY PROGRAM CLUSTER JOB TASK

is one task: a worker prints its losses, a parameter server ends when all workers are done.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
from importlib import import_module
from itertools import count
from pathlib import Path

import numpy as np

STEPS = 5
_NUMBERS = count(1)
TIMEOUT = 120
X = np.random.RandomState(0).rand(8, 4, 5).astype(np.float32)
Y = X.sum((1, 2))[:, np.newaxis]


def dense(tf, x):
    """Layers of reference variables."""
    hidden = tf.layers.dense(tf.reshape(x, [-1, 20]), 3, tf.tanh)
    return tf.layers.dense(hidden, 1)


def recurrent(tf, x):
    """A loop that reads resource variables of another process."""
    with tf.variable_scope("rnn", use_resource=True):
        _, state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32)
        return tf.layers.dense(state, 1)


def sparse(tf, x):
    """Rows of an embedding, whose gradients are sparse."""
    rows = tf.get_variable("rows", [10, 3])
    return tf.layers.dense(tf.nn.embedding_lookup(rows, tf.cast(x[:, 0, 0] * 10, tf.int32)), 1)


PROGRAMS = (dense, recurrent, sparse)


def losses_of(tf, program, server, cluster: dict, task: int) -> list[float]:
    """The losses of a worker that is alone or the chief."""
    device = f"/job:worker/task:{task}"
    with tf.device(tf.train.replica_device_setter(worker_device=device, cluster=cluster)):
        x, y = tf.placeholder(tf.float32, [None, 4, 5]), tf.placeholder(tf.float32, [None, 1])
        with tf.variable_scope("model", initializer=tf.constant_initializer(0.1)):
            loss = tf.reduce_mean(tf.square(program(tf, x) - y))
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    stop = tf.train.StopAtStepHook(num_steps=STEPS)
    losses = []
    with tf.train.MonitoredTrainingSession(server.target, is_chief=task == 0, hooks=[stop]) as run:
        while not run.should_stop():
            losses.append(float(run.run([loss, train], {x: X, y: Y})[0]))
    return losses


def queue_of(tf, task: int):
    """The queue of a parameter server, in which workers say that they are done."""
    with tf.device(f"/job:ps/task:{task}"):
        return tf.FIFOQueue(10, tf.int32, shared_name=f"done {task}")


def run_task(tf, program: str, cluster: dict, job: str, task: int) -> None:
    """One task, until it is done."""
    server = tf.train.Server(cluster, job_name=job, task_index=task)
    if job == "ps":
        element = queue_of(tf, task).dequeue()
        with tf.Session(server.target) as session:
            for _ in cluster["worker"]:
                session.run(element)
        return
    function = next(f for f in PROGRAMS if f.__name__ == program)
    losses = losses_of(tf, function, server, cluster, task)
    done = [queue_of(tf, i).enqueue(1) for i in range(len(cluster["ps"]))]
    with tf.Session(server.target) as session:
        session.run(done)
    sys.stdout.write(json.dumps(losses) + "\n")


def free_addresses(number: int) -> list[str]:
    """Addresses of this machine at which nobody listens; other processes take others first."""
    addresses: list[str] = []
    while len(addresses) < number:
        port = 20_000 + (os.getpid() * 100 + next(_NUMBERS)) % 12_000
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            addresses.append(f"localhost:{port}")
    return addresses


def trained(library: str, program: str, n_workers: int = 1) -> list[list[float]]:
    """The losses of each worker, with two parameter servers."""
    addresses = free_addresses(2 + n_workers)
    cluster = {"ps": addresses[:2], "worker": addresses[2:]}
    tasks = [("worker", i) for i in range(n_workers)] + [("ps", 0), ("ps", 1)]
    command = [sys.executable, __file__, library, program, json.dumps(cluster)]
    processes = [
        subprocess.Popen(
            [*command, job, str(task)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        for job, task in tasks
    ]
    try:
        outputs = []
        for process in processes:
            output, errors = process.communicate(timeout=TIMEOUT)
            if process.returncode:
                raise RuntimeError(errors)
            outputs.append(output)
    finally:
        for process in processes:
            process.kill()
            process.communicate()
    return [json.loads(text.splitlines()[-1]) for text in outputs[:n_workers]]


def outcomes(tf) -> dict[str, list[float]]:
    """The losses of each program, of one worker."""
    return {f.__name__: trained("tensorflow.compat.v1", f.__name__)[0] for f in PROGRAMS}


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[3]))
    os.environ.setdefault("TF_USE_LEGACY_KERAS", "1")
    LIBRARY, PROGRAM, CLUSTER, JOB, TASK = sys.argv[1:]
    TF = import_module(LIBRARY)
    if LIBRARY.startswith("tensorflow"):
        TF.disable_v2_behavior()
    run_task(TF, PROGRAM, json.loads(CLUSTER), JOB, int(TASK))
