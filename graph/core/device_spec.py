"""Names of devices: `tf.DeviceSpec`, and how nested blocks' names go together."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .typing import Scalar

FIELDS = ("job", "replica", "task", "device_type", "device_index")
_NUMBERS = ("replica", "task", "device_index")
_SHORT = ("CPU", "GPU", "TPU", "TPU_SYSTEM", "XLA_CPU", "XLA_GPU")
"""The types that need no "device:" before them."""


class DeviceSpec:
    """Where operations run, known in part: "/job:worker/replica:0/task:1/device:GPU:2".

    Each field may be None, for unspecified, and may be assigned.

    >>> DeviceSpec.from_string("/job:ps/cpu:0").to_string()
    '/job:ps/device:CPU:0'
    """

    __slots__ = ("_device_index", "_device_type", "_job", "_replica", "_task")

    def __init__(
        self,
        job: str | None = None,
        replica: int | None = None,
        task: int | None = None,
        device_type: str | None = None,
        device_index: int | None = None,
    ):
        self.job = job
        self.replica = replica
        self.task = task
        self.device_type = device_type
        self.device_index = device_index

    @property
    def job(self) -> str | None:
        """The job's name."""
        return self._job

    @job.setter
    def job(self, job: str | None) -> None:
        self._job = None if job is None else str(job)

    @property
    def replica(self) -> int | None:
        """The number of the replica."""
        return self._replica

    @replica.setter
    def replica(self, replica: int | str | None) -> None:
        self._replica = None if replica is None else int(replica)

    @property
    def task(self) -> int | None:
        """The number of the task."""
        return self._task

    @task.setter
    def task(self, task: int | str | None) -> None:
        self._task = None if task is None else int(task)

    @property
    def device_type(self) -> str | None:
        """The kind of device; "cpu" and "gpu" in capitals."""
        return self._device_type

    @device_type.setter
    def device_type(self, device_type: str | None) -> None:
        is_lower = device_type in ("cpu", "gpu")
        self._device_type = device_type.upper() if device_type and is_lower else device_type

    @property
    def device_index(self) -> int | None:
        """The number of the device among those of its kind."""
        return self._device_index

    @device_index.setter
    def device_index(self, device_index: int | str | None) -> None:
        self._device_index = None if device_index is None else int(device_index)

    def to_string(self) -> str:
        """The name; "" when no field is specified."""
        fields = [(key, getattr(self, key)) for key in FIELDS[:3]]
        parts = [f"/{key}:{value}" for key, value in fields if value is not None]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    @classmethod
    def from_string(cls, spec: str) -> DeviceSpec:
        """What a name says; ValueError when it is malformed."""
        return cls().parse_from_string(spec)

    def parse_from_string(self, spec: str) -> DeviceSpec:
        """Takes everything from a name; ValueError when it is malformed."""
        fields = _parsed(spec)
        for key in FIELDS:
            setattr(self, key, fields.get(key))
        return self

    def make_merged_spec(self, dev: DeviceSpec) -> DeviceSpec:
        """What `dev` says, and what it leaves open as here."""
        merged = self.replace()
        merged.merge_from(dev)
        return merged

    def merge_from(self, dev: DeviceSpec) -> None:
        """Takes over what `dev` says."""
        for key in FIELDS:
            value = getattr(dev, key)
            if value is not None:
                setattr(self, key, value)

    def replace(self, **kwargs: str | int | None) -> DeviceSpec:
        """The same with some fields set anew."""
        unknown = sorted(kwargs.keys() - set(FIELDS))
        if unknown:
            raise TypeError(f"replace() got an unexpected keyword argument '{unknown[0]}'")
        changed = DeviceSpec()
        for key in FIELDS:
            setattr(changed, key, kwargs.get(key, getattr(self, key)))
        return changed

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceSpec) and self.to_string() == other.to_string()

    def __hash__(self) -> int:
        return hash(self.to_string())

    def __repr__(self) -> str:
        fields = ", ".join(f"{key}={getattr(self, key)}" for key in FIELDS)
        return f"<DeviceSpec({fields})>"


def _parsed(spec: str) -> dict[str, Scalar]:
    """The fields that a name has."""
    fields: dict[str, Scalar] = {}
    for part in filter(None, spec.split("/")):
        key, *values = part.split(":")
        if key in FIELDS[:3] and len(values) == 1:
            fields[key] = int(values[0]) if key in _NUMBERS else values[0]
            continue
        if key == "device" and len(values) == 2:
            kind, index = values
        elif key.upper() in _SHORT and len(values) <= 1:
            kind, index = key.upper(), values[0] if values else "*"
        else:
            raise ValueError(
                f"Unknown attribute '{key}' is encountered while parsing the device spec: '{spec}'."
            )
        if "device_type" in fields:
            raise ValueError(
                f"Multiple device types are not allowed while parsing the device spec: {spec}."
            )
        fields["device_type"] = kind
        if index != "*":
            fields["device_index"] = int(index)
    return fields


def merged_device(outer: str, inner: str) -> str:
    """`inner`, with what it leaves open from `outer`, as graphs spell it: "/cpu:0" is
    "/device:CPU:0".
    """
    return DeviceSpec.from_string(outer).make_merged_spec(DeviceSpec.from_string(inner)).to_string()
