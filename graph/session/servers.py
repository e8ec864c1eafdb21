"""Servers of clusters, in this process: what sessions of several tasks share, and where it lies.

A Session whose target is a server's keeps its variables, queues and tables in the server's cluster:
they outlive the session, and sessions of other tasks see those that stand on the same task.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import TYPE_CHECKING

from ...schema.errors import InternalError, InvalidArgumentError, UnimplementedError, UnknownError
from ..core.device_spec import DeviceSpec
from .state import Store

if TYPE_CHECKING:
    from ...schema.proto import Message
    from ..core.graph import Operation

_ports = count(20001)
_clusters: dict[str, Cluster] = {}
_tasks: dict[str, Task] = {}


class Cluster:
    """The tasks of a cluster, and what they keep.

    Attributes:
        addresses: Job -> number of a task -> its address.
        store: What the tasks that have a server in this process keep.
        served: Those tasks.
    """

    def __init__(self, addresses: Mapping[str, Mapping[int, str]]):
        self.addresses = addresses
        self.store = Store()
        self.served: set[tuple[str, int]] = set()

    @classmethod
    def of(cls, addresses: Mapping[str, Mapping[int, str]]) -> Cluster:
        """The cluster with these addresses; a new one where they leave a port open."""
        listed = [address for tasks in addresses.values() for address in tasks.values()]
        if any(address.endswith(":0") for address in listed):
            return cls(addresses)
        key = repr(sorted((job, sorted(tasks.items())) for job, tasks in addresses.items()))
        cluster = _clusters.get(key)
        if cluster is None:
            cluster = _clusters[key] = cls(addresses)
        return cluster

    def devices(self) -> list[str]:
        """The names of the processors that there are."""
        return [
            f"/job:{job}/replica:0/task:{index}/device:CPU:0" for job, index in sorted(self.served)
        ]


class Task:
    """A server: one task of a cluster.

    Args:
        cluster: The cluster.
        job: The job's name.
        index: The task's number.
        config: The ConfigProto of sessions that have none of their own.

    Attributes:
        target: What a Session is to be made with.

    Raises:
        InternalError: The cluster has no such job, or the job no such task.
    """

    def __init__(self, cluster: Cluster, job: str, index: int, config: Message | None):
        if job not in cluster.addresses:
            raise InternalError(None, None, f'Job "{job}" was not defined in cluster')
        if index not in cluster.addresses[job]:
            raise InternalError(None, None, f'Task {index} was not defined in job "{job}"')
        self.cluster, self.job, self.index, self.config = cluster, job, index, config
        self.target = _target(cluster.addresses[job][index])
        self._prefixes: dict[str, str] = {}

    @property
    def store(self) -> Store:
        """What sessions on it share."""
        return self.cluster.store

    def start(self) -> None:
        """Lets sessions use it, and those of other tasks what stands on it.

        Raises UnknownError where this process has a server with its address.
        """
        if _tasks.setdefault(self.target, self) is not self:
            raise UnknownError(
                None, None, f"Could not start gRPC server: {self.target} has one in this process"
            )
        self.cluster.served.add((self.job, self.index))

    def prefix(self, op: Operation) -> str:
        """What tells apart what tasks keep under one name; see `State.key_of`.

        Raises:
            InvalidArgumentError: The operation stands on no task of the cluster.
            UnimplementedError: That task's server is in another process.
        """
        if op.device not in self._prefixes:
            self._prefixes[op.device] = self._prefix(op)
        return self._prefixes[op.device]

    def _prefix(self, op: Operation) -> str:
        spec = DeviceSpec.from_string(op.device or "")
        job = spec.job or self.job
        tasks = self.cluster.addresses.get(job, {})
        index = spec.task
        if index is None:
            index = self.index if job == self.job else min(tasks, default=0)
        if index not in tasks:
            raise InvalidArgumentError(
                None,
                op,
                f"Cannot assign a device for operation {op.name}: Operation was explicitly "
                f"assigned to {op.device} but available devices are "
                f"[ {', '.join(self.cluster.devices())} ]. Make sure the device specification "
                "refers to a valid device.",
            )
        if (job, index) not in self.cluster.served:
            raise UnimplementedError(
                None,
                op,
                f"/job:{job}/task:{index} ({tasks[index]}) has no server in this process, where "
                f"'{op.name}' would have to be; sessions reach servers of their own process only: "
                "start the server here, or give the variables to a task of this process",
            )
        return f"/job:{job}/task:{index};"


def _target(address: str) -> str:
    """The address as a target, with a port of its own where it leaves that open."""
    host, _, port = address.rpartition(":")
    return f"grpc://{host}:{next(_ports)}" if port == "0" else f"grpc://{address}"


def task_at(target: str) -> Task | None:
    """The started server with this target, None where this process has none."""
    return _tasks.get(target)
