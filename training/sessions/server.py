"""Servers of a cluster's tasks: `tf.train.Server`."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, cast

from ...graph.session.cluster.tasks import Cluster, Task
from ...schema import proto
from ...schema.errors import NotFoundError
from .cluster import ClusterSpec

if TYPE_CHECKING:
    from ...schema.proto import Message
    from .cluster import Cluster as ClusterLike


class Server:
    """One task of a cluster: what sessions on `target` keep outlives them.

    Sessions on servers of one cluster share what stands on its tasks, such as variables that
    `replica_device_setter` gave to "/job:ps", wherever these have their processes. A server whose
    address is on "localhost" listens to this machine alone, others to the network; like
    TensorFlow's it runs the graphs of whoever reaches it.

    Args:
        server_or_cluster_def: A ServerDef; or a cluster: a ClusterDef, ClusterSpec or dictionary.
        job_name: The job of the task; where the cluster has one job, that by default.
        task_index: The number of the task; where the job has one task, that by default.
        protocol: "grpc", which is all there is.
        config: The ConfigProto of sessions that have none of their own.
        start: Whether it is started at once.

    Raises:
        TypeError: `server_or_cluster_def` is neither.
        ValueError: `job_name` or `task_index` is needed.
        InternalError: The cluster has no such task.
        NotFoundError: `protocol` is another one.
        UnknownError: The port of the task is taken.

    >>> import flatlite.compat.v1 as tf
    >>> server = tf.train.Server.create_local_server()
    >>> with tf.Graph().as_default():
    ...     step = tf.get_variable("step", initializer=1)
    ...     with tf.Session(server.target) as session:
    ...         session.run(step.initializer)
    ...     with tf.Session(server.target) as session:
    ...         print(session.run(step.assign_add(1)))
    2
    """

    def __init__(
        self,
        server_or_cluster_def: Message | ClusterLike,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: Message | None = None,
        start: bool = True,
    ):
        self._server_def = _server_def(server_or_cluster_def, job_name, task_index)
        self._server_def.protocol = protocol or self._server_def.protocol or "grpc"
        if self._server_def.protocol != "grpc":
            raise NotFoundError(
                None,
                None,
                "No server factory registered for the given ServerDef: protocol "
                f"'{self._server_def.protocol}'; it must be 'grpc'",
            )
        if config is not None:
            self._server_def.default_session_config.MergeFrom(config)
        spec = ClusterSpec(self._server_def.cluster)
        addresses = {
            job: {i: spec.task_address(job, i) for i in spec.task_indices(job)} for job in spec.jobs
        }
        self._task = Task(
            Cluster.of(addresses),
            self._server_def.job_name,
            self._server_def.task_index,
            self._server_def.default_session_config,
        )
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: Message | None = None, start: bool = True) -> Server:
        """The server of a cluster that is itself."""
        return Server({"localhost": ["localhost:0"]}, config=config, start=start)

    @property
    def server_def(self) -> Message:
        """What it was made of, as a ServerDef message."""
        return self._server_def

    @property
    def target(self) -> str:
        """What `tf.Session` takes to run on it."""
        return self._task.target

    def start(self) -> None:
        """Starts it; sessions can be made from then on."""
        self._task.start()

    def join(self) -> None:
        """Waits for ever: a server ends with its process."""
        threading.Event().wait()


def _server_def(
    source: Message | ClusterLike, job_name: str | None, task_index: int | None
) -> Message:
    """A ServerDef of a new one or of a cluster, with the task it says."""
    message = proto.message("ServerDef")()
    if type(source) is type(message):
        message.CopyFrom(cast("Message", source))
        if job_name is not None:
            message.job_name = job_name
        if task_index is not None:
            message.task_index = task_index
        return message
    try:
        spec = ClusterSpec(source)
    except TypeError as error:
        raise TypeError(
            "Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
            f"`tf.train.ClusterSpec`: {error}"
        ) from None
    if job_name is None:
        if len(spec.jobs) != 1:
            raise ValueError("Must specify an explicit `job_name`.")
        (job_name,) = spec.jobs
    if task_index is None:
        if len(spec.task_indices(job_name)) != 1:
            raise ValueError("Must specify an explicit `task_index`.")
        (task_index,) = spec.task_indices(job_name)
    return proto.message("ServerDef")(
        cluster=spec.as_cluster_def(), job_name=job_name, task_index=task_index, protocol="grpc"
    )
