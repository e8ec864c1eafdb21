"""Tasks of clusters: what sessions of several tasks share, and where it lies.

A Session whose target is a server's keeps its variables, queues and tables in the server's cluster:
they outlive the session, and sessions of other tasks see those that stand on the same task. Servers
of one process share one store; those of other processes are reached through `Peer`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ....schema.errors import (
    InternalError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
    UnknownError,
)
from ...core.device_spec import DeviceSpec
from ..state import Store
from .parts import Place
from .peer import connected
from .service import Service
from .wire import Frame, receive, send

if TYPE_CHECKING:
    from ....schema.proto import Message
    from ...core.graph import Operation

_clusters: dict[str, Cluster] = {}
_tasks: dict[str, Task] = {}
SCHEME = "grpc://"


class Cluster:
    """The tasks of a cluster, and what they keep.

    Attributes:
        addresses: Job -> number of a task -> its address.
        store: What the tasks that have a server in this process keep.
        served: Those tasks.
    """

    def __init__(self, addresses: Mapping[str, Mapping[int, str]]):
        self.addresses = {job: dict(tasks) for job, tasks in addresses.items()}
        self.store = Store()
        self.served: set[Place] = set()

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

    def places(self) -> list[Place]:
        """All tasks."""
        return [Place(job, i) for job, tasks in sorted(self.addresses.items()) for i in tasks]

    def devices(self) -> list[str]:
        """The names of the processors of all tasks."""
        return [f"{place.name}/device:CPU:0" for place in self.places()]

    @property
    def is_spread(self) -> bool:
        """Whether some tasks have their servers in other processes."""
        return any(place not in self.served for place in self.places())


class Task:
    """One task of a cluster, on which sessions may run.

    Args:
        cluster: The cluster.
        job: The job's name.
        index: The task's number.
        config: The ConfigProto of sessions that have none of their own.

    Attributes:
        target: What a Session is to be made with.

    Raises:
        InternalError: The cluster has no such job, or the job no such task.
        UnknownError: The task leaves its port open, and this machine lets nobody listen there.
    """

    def __init__(self, cluster: Cluster, job: str, index: int, config: Message | None):
        if job not in cluster.addresses:
            raise InternalError(None, None, f'Job "{job}" was not defined in cluster')
        if index not in cluster.addresses[job]:
            raise InternalError(None, None, f'Task {index} was not defined in job "{job}"')
        self.cluster, self.job, self.index, self.config = cluster, job, index, config
        self._places: dict[str, Place] = {}
        self._service: Service | None = None
        host, _, port = cluster.addresses[job][index].rpartition(":")
        if port == "0":
            self._service = self._listening()
            cluster.addresses[job][index] = f"{host}:{self._service.port}"
        self.target = SCHEME + cluster.addresses[job][index]

    @property
    def store(self) -> Store:
        """What sessions on it share."""
        return self.cluster.store

    def start(self) -> None:
        """Lets sessions use it, also of other processes; UnknownError where its port is taken."""
        if self._service is None:
            self._service = self._listening()
        self._service.start()
        _tasks[self.target] = self
        self.cluster.served.add(Place(self.job, self.index))

    def _listening(self) -> Service:
        host, _, port = self.cluster.addresses[self.job][self.index].rpartition(":")
        try:
            return Service(self, host, int(port))
        except (OSError, ValueError, OverflowError) as error:
            words = f"Could not start gRPC server: {host}:{port}: {error}"
            raise UnknownError(None, None, words) from None

    def place_of(self, op: Operation) -> Place:
        """The task that runs an operation: its device's, or this one where that leaves it open.

        Raises InvalidArgumentError where the cluster has no such task.
        """
        if op.device not in self._places:
            self._places[op.device] = self._place_of(op)
        return self._places[op.device]

    def _place_of(self, op: Operation) -> Place:
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
        return Place(job, index)


def task_at(target: str) -> Task | None:
    """The task of the server with this target; None where the target is no server's.

    Raises:
        UnavailableError: Nobody listens there.
        NotFoundError: Who listens there is no server of a cluster.
    """
    task = _tasks.get(target)
    if task is not None or not target.startswith(SCHEME):
        return task
    try:
        with connected(target[len(SCHEME) :]) as connection:
            send(connection, {"do": "cluster"}, [])
            frame = receive(connection)
    except (OSError, ValueError, OverflowError) as error:
        words = f"failed to connect to all addresses; last error: {target}: {error}"
        raise UnavailableError(None, None, words) from None
    return _described(frame, target)


def _described(frame: Frame | None, target: str) -> Task:
    """The task that a server says it is."""
    addresses = None if frame is None else frame.header.get("addresses")
    if frame is None or not isinstance(addresses, Mapping):
        raise NotFoundError(None, None, f"{target} is no server of a cluster")
    cluster = Cluster.of(
        {job: {int(i): address for i, address in tasks.items()} for job, tasks in addresses.items()}
    )
    return Task(cluster, frame.text("job"), frame.number("index"), None)
