"""What a process has to run graphs on: `tf.config`. It is one CPU; delegates are no devices."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from ...schema.errors import InvalidArgumentError

if TYPE_CHECKING:
    from ..core.graph import Operation


class PhysicalDevice(NamedTuple):
    """A device of the machine."""

    name: str
    device_type: str


class LogicalDevice(NamedTuple):
    """A device as operations are placed on it."""

    name: str
    device_type: str


class DeviceAttributes:
    """A device that a Session runs on."""

    def __init__(self, name: str, device_type: str, memory_limit_bytes: int, incarnation: int):
        self.name = name
        self.device_type = device_type
        self.memory_limit_bytes = memory_limit_bytes
        self.incarnation = incarnation

    def __repr__(self) -> str:
        return (
            f"_DeviceAttributes({self.name}, {self.device_type}, {self.memory_limit_bytes}, "
            f"{self.incarnation})"
        )


CPU = PhysicalDevice("/physical_device:CPU:0", "CPU")
_PLACED = LogicalDevice("/device:CPU:0", "CPU")
_settings: dict[str, int] = {"intra": 0, "inter": 0, "soft_placement": 0}


def _of_type(device_type: str | None) -> bool:
    return device_type is None or device_type == "CPU"


def require_local_jobs(operations: Iterable[Operation]) -> None:
    """Raises InvalidArgumentError for an operation of a job, of which only a cluster has any.

    A device of another type, and one that this machine does not have, are taken for the CPU.
    """
    for op in operations:
        if op.device.startswith("/job:") and not op.device.startswith("/job:localhost"):
            raise InvalidArgumentError(
                None,
                op,
                f"Cannot assign a device for operation {op.name}: {{{{node {op.name}}}}} was "
                f"explicitly assigned to {op.device} but available devices are [ "
                "/job:localhost/replica:0/task:0/device:CPU:0 ]. Make sure the device "
                "specification refers to a valid device.",
            )


def list_physical_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices of the machine, or those of a type ("CPU", "GPU")."""
    return [CPU] if _of_type(device_type) else []


def list_logical_devices(device_type: str | None = None) -> list[LogicalDevice]:
    """The devices that operations can be placed on, or those of a type."""
    return [_PLACED] if _of_type(device_type) else []


def get_visible_devices(device_type: str | None = None) -> list[PhysicalDevice]:
    """The devices that are used: all of them."""
    return list_physical_devices(device_type)


def set_visible_devices(
    devices: PhysicalDevice | Sequence[PhysicalDevice], device_type: str | None = None
) -> None:
    """Says which devices of a type may be used; the CPU always is.

    Raises:
        ValueError: one is no device of this machine, or not of the type; the CPU is left out.
    """
    listed = [devices] if isinstance(devices, PhysicalDevice) else list(devices or ())
    for device in listed:
        _require_known(device)
        if device_type is not None and device.device_type != device_type:
            raise ValueError(f"Unrecognized device: {device!r} is no {device_type}")
    if _of_type(device_type) and not listed:
        raise ValueError("the CPU cannot be hidden: graphs run on it")


def get_memory_growth(device: PhysicalDevice) -> bool:
    """Raises ValueError: memory growth is for GPUs, of which there is none."""
    _require_known(device)
    raise ValueError("Cannot get memory growth of non-GPU and non-Pluggable devices")


def set_memory_growth(device: PhysicalDevice, enable: bool) -> None:
    """Raises ValueError: memory growth is for GPUs, of which there is none."""
    del enable
    _require_known(device)
    raise ValueError("Cannot set memory growth on non-GPU and non-Pluggable devices")


def _require_known(device: PhysicalDevice) -> None:
    if device != CPU:
        raise ValueError(f"Unrecognized device: {device!r}")


def get_intra_op_parallelism_threads() -> int:
    """Threads that share an operation in new Sessions; 0 is one for each processor."""
    return _settings["intra"]


def set_intra_op_parallelism_threads(num_threads: int) -> None:
    """Sets how many threads share an operation in new Sessions whose ConfigProto does not say.

    Args:
        num_threads: their number; 0 is one for each processor.

    Raises:
        ValueError: it is negative or no whole number.
    """
    _settings["intra"] = _count("intra_op_parallelism_threads", num_threads)


def get_inter_op_parallelism_threads() -> int:
    """What `set_inter_op_parallelism_threads` was given last, 0 at first."""
    return _settings["inter"]


def set_inter_op_parallelism_threads(num_threads: int) -> None:
    """Notes a number: operations run one after the other, each on all threads.

    Raises:
        ValueError: it is negative or no whole number.
    """
    _settings["inter"] = _count("inter_op_parallelism_threads", num_threads)


def _count(name: str, value: object) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a number of threads, 0 or more, got {value!r}")
    return value


def get_soft_device_placement() -> bool:
    """What `set_soft_device_placement` was given last, False at first."""
    return bool(_settings["soft_placement"])


def set_soft_device_placement(enabled: bool) -> None:
    """Notes a wish: there is one device, on which all operations run, whatever they ask for."""
    _settings["soft_placement"] = bool(cast("object", enabled))
