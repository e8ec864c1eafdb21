"""XlaDelegate: partitions of a model as XLA programs, made by JAX for a TPU, a GPU or the CPU."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ...interpreter.delegation.partition import Partition
from ...interpreter.plan.node import Node
from ..delegate import Delegate
from ..float_ops import Uploaded, reason_against_types
from .lowerings import LOWERINGS

MAX_PROGRAMS = 64
"""Compiled programs kept; one for each partition and set of shapes, whatever the weights."""


class XlaDelegate(Delegate):
    """Compiles each partition to one XLA program.

    Weights are sent to the device once; results that only other partitions read stay there.

    Args:
        platform: "tpu", "gpu" or "cpu"; JAX's own choice when None.
        device: number of the device of that platform.
        **options: see Delegate.

    Raises:
        ValueError: there is no such device.
    """

    name = "xla"

    def __init__(self, *, platform: str | None = None, device: int = 0, **options: Any):
        super().__init__(**options)
        self._options = {"platform": platform, "device": device, **options}
        try:
            devices = jax.devices(platform)
        except RuntimeError as error:
            raise ValueError(f"JAX has no platform {platform!r}: {error}") from error
        if not isinstance(device, int) or not 0 <= device < len(devices):
            raise ValueError(f"device must be in [0, {len(devices)}), got {device!r}")
        self.device = devices[device]
        self._sharding = jax.sharding.SingleDeviceSharding(self.device)
        self._constants = Uploaded(self._to_device)
        self._programs: OrderedDict[str, Callable] = OrderedDict()

    def __reduce__(self) -> Any:
        return _make, (type(self), self._options)

    def reason_against(self, op: Node) -> str | None:
        """Why XLA does not run `op`, None if it does."""
        row = LOWERINGS.get(op.kind)
        if row is None:
            return f"{op.kind} has no lowering to XLA"
        return reason_against_types(op, row.parameters)

    def compile(self, partition: Partition) -> Callable[..., Sequence[Any]]:
        """The partition as one compiled program."""
        constants = [x for x in partition.constants if x.dtype == np.float32]

        def compute(*arrays):
            values = dict(zip((*partition.inputs, *constants), arrays, strict=True))
            for op in partition.ops:
                row = LOWERINGS.known(op.kind)
                arguments = [
                    None if x is None or i in row.parameters else values[x]
                    for i, x in enumerate(op.inputs)
                ]
                values[op.results[0]] = row.function(op, *arguments)
            return [values[x] for x in partition.outputs]

        weights = [self._constants(x) for x in constants]
        program = self._program(compute, [*map(self._shape, partition.inputs), *weights])

        def run(*arrays):
            arguments = [x if isinstance(x, jax.Array) else self._to_device(x) for x in arrays]
            return program(*arguments, *weights)

        return run

    def _program(self, compute: Callable, arguments: Sequence[Any]) -> Callable:
        """`compute` compiled; a program with the same text is not compiled again."""
        lowered = jax.jit(compute, keep_unused=True).lower(*arguments)
        text = lowered.as_text()
        program = self._programs.pop(text, None)
        if program is None:
            program = lowered.compile()
        self._programs[text] = program
        if len(self._programs) > MAX_PROGRAMS:
            self._programs.popitem(last=False)
        return program

    def _shape(self, operand: Any) -> Any:
        return jax.ShapeDtypeStruct(operand.shape, operand.dtype, sharding=self._sharding)

    def _to_device(self, array: Any) -> Any:
        # never a view: the interpreter's memory changes while the program may still be running
        return jax.device_put(np.asarray(array), self._sharding, may_alias=False)


def _make(cls: type[XlaDelegate], options: dict[str, Any]) -> XlaDelegate:
    return cls(**options)
