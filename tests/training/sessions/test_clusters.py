"""Clusters with a process for each task, as TensorFlow runs them."""

import json
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import flatlite.compat.v1 as tf

from .cluster_programs import PROGRAMS, free_addresses, trained

RECORDED = json.loads(Path(__file__).with_name("cluster_programs.json").read_text())
SERVE = """
import sys, flatlite.compat.v1 as tf
tf.train.Server({"ps": [sys.argv[1]], "worker": [sys.argv[2]]}, "ps").join()
"""


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_losses(program):
    """Those of a worker whose variables are in two other processes."""
    (losses,) = trained("flatlite.compat.v1", program.__name__)
    np.testing.assert_allclose(losses, RECORDED[program.__name__], rtol=2e-5)


@pytest.mark.slow  # a worker looks every 30 seconds for what the chief has initialized
def test_two_workers_share_variables():
    first, second = trained("flatlite.compat.v1", "dense", 2)
    assert min(first + second) < RECORDED["dense"][-1]


class Cluster:
    """A parameter server in another process, and a worker here."""

    def __init__(self):
        self.ps, self.worker = free_addresses(2)
        self.process = subprocess.Popen([sys.executable, "-c", SERVE, self.ps, self.worker])
        self.server = tf.train.Server({"ps": [self.ps], "worker": [self.worker]}, "worker")


@pytest.fixture
def cluster():
    one = Cluster()
    with tf.Graph().as_default():
        yield one
    one.process.kill()
    one.process.wait()


def test_errors_come_back(cluster):
    """Their type, operation and words; a run that waits there can be ended; then all goes on."""
    with tf.device("/job:ps"):
        x = tf.placeholder(tf.int32, [None])
        rows = tf.gather([1, 2, 3], x, name="rows")
        element = tf.FIFOQueue(1, tf.int32).dequeue()
    with tf.Session(cluster.server.target) as session:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"= 7 is not in \[0, 3\)") as info:
            session.run(rows, {x: [0, 7]})
        assert info.value.op.name == "rows"
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(element, timeout=0.2)
        assert session.run(rows, {x: [0, 2]}).tolist() == [1, 3]


def test_a_process_that_is_gone(cluster):
    with tf.device("/job:ps"):
        v = tf.Variable([1.0, 2.0])
    with tf.Session(cluster.server.target) as session:
        session.run(v.initializer)
        doubled = v.value() * 2
        assert session.run(doubled).tolist() == [2, 4]
        cluster.process.kill()
        cluster.process.wait()
        with pytest.raises(tf.errors.UnavailableError, match="/job:ps/replica:0/task:0"):
            session.run(doubled)


def test_a_session_of_another_process(cluster):
    """It runs on the task whose server's target it has; what grows in its graph runs, too."""
    with tf.Session(cluster.server.target) as session:  # waits until the other process is there
        with tf.device("/job:ps"):
            v = tf.Variable(1.0, name="v")
        session.run(v.initializer)
    with tf.Session(f"grpc://{cluster.ps}") as session:
        assert session.run(v.assign_add(1)) == 2
        assert session.run(v + 1) == 3
        devices = [device.name for device in session.list_devices()]
    assert devices == [f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("ps", "worker")]


def test_use_of_what_another_task_keeps(cluster):
    """An update runs where the variable is; a function that has one in it cannot."""
    with tf.device("/job:ps"):
        v = tf.get_variable("v", initializer=1.0, use_resource=True)
    with tf.device("/job:worker"):
        update = tf.raw_ops.AssignAddVariableOp(resource=v.handle, value=1.0)
        within = tf.cond(tf.placeholder_with_default(True, []), lambda: v.assign_add(1.0), v.value)
    with tf.Session(cluster.server.target) as session:
        session.run(v.initializer)
        session.run(update)
        assert session.run(v) == 2
        with pytest.raises(tf.errors.UnimplementedError, match="put both on one task"):
            session.run(within)


def _frame(header: bytes) -> bytes:
    return struct.pack("<QQ", len(header), 0) + header


NO_FRAMES = {
    "another protocol": b"GET / HTTP/1.1\r\n\r\n",
    "too long": b"\xff" * 64,
    "no header": bytes(16),
    "cut off": b"\x02" + bytes(15) + b"{",
    "no object": _frame(b"[]"),
    "too deep": _frame(b"[" * 100_000),
    "another request": _frame(b'{"do": "else"}'),
    "no session": _frame(b'{"do": "run"}'),
}


def test_functions_of_python(cluster):
    """One runs in the process that has it; another process refuses what may be another function."""
    x = tf.constant(2.0)
    here = tf.py_func(lambda x: x + 1, [x], tf.float32)
    with tf.device("/job:ps"):
        there = tf.py_func(lambda x: x + 1, [x], tf.float32)
        doubled = here * 2
    with tf.Session(cluster.server.target) as session:
        assert session.run(doubled) == 6
        with pytest.raises(tf.errors.UnimplementedError, match="function of another process"):
            session.run(there)


@pytest.mark.parametrize("content", NO_FRAMES.values(), ids=NO_FRAMES)
def test_what_is_no_frame(cluster, content):
    """A server closes such a connection, and serves others."""
    with socket.create_connection(("localhost", int(cluster.worker.partition(":")[2]))) as other:
        other.settimeout(10)
        try:
            other.sendall(content)
            other.shutdown(socket.SHUT_WR)
            assert other.recv(1) == b""
        except OSError:
            pass  # closed before all of it was read
    with tf.Session(cluster.server.target) as session:
        assert session.run(tf.constant(1)) == 1


def test_a_task_that_is_not_there_is_waited_for():
    ps, worker = free_addresses(2)
    server = tf.train.Server({"ps": [ps], "worker": [worker]}, "worker")
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        with tf.device("/job:ps"):
            v = tf.Variable(1.0)
        begin = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(v.initializer, timeout=0.5)
        assert time.monotonic() - begin > 0.4
