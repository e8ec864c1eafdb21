"""tf.train.Server: tasks of a cluster in this process; errors are TensorFlow's."""

import pytest

import flatlite.compat.v1 as tf

from .cluster_programs import free_addresses

ONE = {"worker": ["localhost:0"]}


@pytest.mark.parametrize(
    ("cluster", "arguments", "error", "words"),
    [
        ({"a": ["x:0"], "b": ["x:0"]}, {}, ValueError, "Must specify an explicit `job_name`."),
        ({"a": ["x:0", "x:0"]}, {}, ValueError, "Must specify an explicit `task_index`."),
        (3, {}, TypeError, "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef`"),
        (ONE, {"job_name": "x", "task_index": 0}, tf.errors.InternalError, 'Job "x" was not'),
        (ONE, {"task_index": 3}, tf.errors.InternalError, 'Task 3 was not defined in job "worker"'),
        (ONE, {"protocol": "x"}, tf.errors.NotFoundError, "No server factory registered"),
    ],
)
def test_errors(cluster, arguments, error, words):
    with pytest.raises(error, match=words):
        tf.train.Server(cluster, **arguments)


def test_definition():
    server = tf.train.Server(ONE, config=tf.ConfigProto(operation_timeout_in_ms=7), start=False)
    definition = tf.train.ServerDef(job_name="worker", protocol="grpc")
    definition.cluster.CopyFrom(tf.train.ClusterSpec(ONE).as_cluster_def())
    definition.default_session_config.operation_timeout_in_ms = 7
    assert server.server_def == definition
    assert tf.train.Server(definition, start=False).server_def == definition
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session("nowhere")
    server.start()
    assert tf.Session(server.target).sess_str == server.target


def test_an_address_has_one_server():
    cluster = {"worker": free_addresses(1)}
    tf.train.Server(cluster)
    with pytest.raises(tf.errors.UnknownError, match="Could not start gRPC server"):
        tf.train.Server(cluster)


def test_where_variables_cannot_be():
    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default(), tf.Session(server.target) as session:
        with tf.device("/job:other"):
            nowhere = tf.Variable(1.0, name="nowhere")
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Cannot assign a device for operation nowhere"
        ):
            session.run(nowhere.initializer)


def test_sessions_that_share_nothing():
    server = tf.train.Server.create_local_server()
    config = tf.ConfigProto(isolate_session_state=True)
    with tf.Graph().as_default():
        v = tf.Variable(1.0, name="v")
        with tf.Session(server.target, config=config) as session:
            session.run(v.initializer)
        with (
            tf.Session(server.target) as session,
            pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v\n"),
        ):
            session.run(v)


def test_reset_ends_the_sessions_of_a_process():
    """What TensorFlow says of a session that `reset` closed; a server's is left alone."""
    v = tf.get_variable("v", [2])
    sessions = [tf.Session(), tf.Session()]
    for session in sessions:
        session.run(v.initializer)
    on_server = tf.Session(tf.train.Server.create_local_server().target)
    on_server.run(v.initializer)
    assert tf.Session.reset("") is None
    for session in sessions:
        with pytest.raises(tf.errors.CancelledError, match=r"Session has been closed\."):
            session.run(v)
    assert on_server.run(v).shape == (2,)
    with pytest.raises(tf.errors.NotFoundError, match="No session factory registered"):
        tf.Session.reset("nowhere")


def test_reset_empties_containers_of_a_server():
    """Of the named ones alone, else of all; sessions that were open are not found any more."""
    with tf.container("box"):
        boxed = tf.get_variable("boxed", [1])
        queue = tf.queue.FIFOQueue(3, [tf.float32], [()], shared_name="queue")
    plain = tf.get_variable("plain", [1], use_resource=False)
    target = tf.train.Server.create_local_server().target
    session = tf.Session(target)
    session.run([boxed.initializer, plain.initializer, queue.enqueue(1.0)])
    tf.Session.reset(target, ["box"])
    with pytest.raises(tf.errors.AbortedError, match=r"Session .* is not found\."):
        session.run(plain)
    session = tf.Session(target)
    assert session.run(plain).shape == (1,)
    assert session.run(queue.size()) == 0
    with pytest.raises(tf.errors.FailedPreconditionError):
        session.run(boxed)
    tf.Session.reset(target)
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.Session(target).run(plain)
