"""Where replicated training puts operations: `tf.train.ClusterSpec`, `replica_device_setter`.

Graphs run in one process, on the device that is there; the names of devices stay in the graph, for
whoever writes it out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, cast

from ...graph.core.device_spec import DeviceSpec
from ...schema import proto

if TYPE_CHECKING:
    from google.protobuf.message import Message

    from ...graph.core.graph import Operation

    Tasks: TypeAlias = "Sequence[str] | Mapping[int, str]"
    Cluster: TypeAlias = "ClusterSpec | Mapping[str, Tasks] | Message"

PS_OPS = (
    "AutoReloadVariable", "MutableDenseHashTable", "MutableDenseHashTableV2", "MutableHashTable",
    "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableHashTableV2",
    "VarHandleOp", "Variable", "VariableV2",
)  # fmt: skip
"""The operations that keep something, which parameter servers run."""


class ClusterSpec:
    """The tasks of a cluster: for each job the addresses of its tasks.

    Args:
        cluster: Job -> addresses, in a list or by number; a ClusterDef; or another ClusterSpec.

    Raises TypeError for anything else, and for addresses that are no strings.
    """

    def __init__(self, cluster: Cluster):
        self._tasks: dict[str, dict[int, str]] = {}
        jobs: list[tuple[str, Tasks]]
        if isinstance(cluster, ClusterSpec):
            jobs = [*cluster.as_dict().items()]
        elif isinstance(cluster, Mapping):
            jobs = [*cast("Mapping[str, Tasks]", cluster).items()]
        elif type(cluster) is proto.message("ClusterDef"):
            defined = getattr(cluster, "job")  # noqa: B009 - a field of a message
            jobs = [(job.name, dict(job.tasks)) for job in defined]
        else:
            raise TypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network "
                "addresses, or a `ClusterDef` protocol buffer"
            )
        for name, tasks in jobs:
            self._tasks[name] = _numbered(name, tasks)

    def __bool__(self) -> bool:
        return bool(self._tasks)

    __nonzero__ = __bool__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._tasks == other._tasks

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = None  # pyright: ignore[reportAssignmentType] - as TensorFlow's

    def __repr__(self) -> str:
        jobs = ", ".join(f"{name!r}: {tasks!r}" for name, tasks in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{jobs}}})"

    def as_dict(self) -> dict[str, Tasks]:
        """Job -> addresses: a list where they are numbered from 0 on."""
        return {
            name: [*tasks.values()] if [*tasks] == [*range(len(tasks))] else dict(tasks)
            for name, tasks in self._tasks.items()
        }

    def as_cluster_def(self) -> Message:
        """The same as a ClusterDef message."""
        message = proto.message("ClusterDef")()
        for name, tasks in sorted(self._tasks.items()):
            job = message.job.add(name=name)  # pyright: ignore[reportAttributeAccessIssue]
            job.tasks.update(tasks)
        return message

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return [*self._tasks]

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has; ValueError for a job that is not there."""
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The numbers of a job's tasks; ValueError for a job that is not there."""
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task; ValueError for one that is not there."""
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks, None for numbers without one."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._tasks:
            raise ValueError(f"No such job in cluster: {name!r}")
        return self._tasks[name]


def _numbered(name: str, tasks: Tasks) -> dict[int, str]:
    if isinstance(tasks, (list, tuple)):
        pairs = [*enumerate(tasks)]
    elif isinstance(tasks, Mapping):
        pairs = sorted(tasks.items())
    else:
        raise TypeError(
            f"The tasks for job {name!r} must be a list or a dictionary from integers to strings."
        )
    for number, address in pairs:
        if not isinstance(number, int):
            raise TypeError(f"Task index {number!r} of job {name!r} must be an integer")
        if not isinstance(address, (str, bytes)):
            raise TypeError(f"Task address {address!r} of job {name!r} must be bytes or unicode")
    return {i: x.decode() if isinstance(x, bytes) else x for i, x in pairs}


class _RoundRobin:
    """The numbers of tasks in turn."""

    def __init__(self, count: int):
        self._count, self._next = count, 0

    def __call__(self, op: Operation) -> int:
        task = self._next
        self._next = (task + 1) % self._count
        return task


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Cluster | None = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """A device function for `tf.device`: variables go to the parameter servers in turn.

    Args:
        ps_tasks: How many parameter servers there are; that of the cluster, where it is named.
        ps_device: Where they are.
        worker_device: Where everything else goes.
        merge_devices: Whether the devices of inner blocks are kept as far as they say something;
            else an operation that has one keeps just that.
        cluster: The cluster.
        ps_ops: The types of operations that go to the servers; those of variables by default.
        ps_strategy: Which server an operation goes to; each in turn by default.

    Returns:
        The function; None where there are no parameter servers.

    Raises TypeError for a strategy that cannot be called.
    """
    if cluster is not None:
        spec = cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)
        job = DeviceSpec.from_string(ps_device).job
        tasks = spec.as_dict()
        if job not in tasks or not tasks[job]:
            return None
        ps_tasks = len(tasks[job])
    if ps_tasks == 0:
        return None
    types = frozenset(PS_OPS if ps_ops is None else ps_ops)
    strategy = _RoundRobin(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise TypeError("ps_strategy must be callable")

    def device(op: Operation) -> str:
        if not merge_devices and op.device:
            return op.device
        current = DeviceSpec.from_string(op.device or "")
        if ps_tasks and ps_device and op.type in types:
            servers = DeviceSpec.from_string(ps_device)
            if servers.job and (not current.job or current.job == servers.job):
                servers = servers.replace(task=strategy(op))
            return servers.make_merged_spec(current).to_string()
        workers = DeviceSpec.from_string(worker_device or "")
        return workers.make_merged_spec(current).to_string()

    return device
