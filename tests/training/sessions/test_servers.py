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
