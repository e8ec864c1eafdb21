"""CudaDelegate: partitions of a model as CUDA kernels, with weights and activations on the GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import config, cuda

from ...engine.plan import planner
from ...engine.plan.buffer import ARENA, Storage
from ...interpreter.delegation.partition import Partition
from ...interpreter.plan.node import Node, Operand
from ..delegate import Delegate
from ..float_ops import Uploaded
from . import launches

FLOAT: Any = np.float32
SIMULATED = getattr(config, "ENABLE_CUDASIM", False)
THREADS = 128  # of a block
MAX_BLOCKS = 65_535


class CudaDelegate(Delegate):
    """Runs float32 operators on an NVIDIA GPU.

    Without a GPU or its driver every operator stays with the CPU, and a warning says why.

    Args:
        device: number of the GPU.
        **options: see Delegate.

    Raises:
        ValueError: there is no such GPU, and `fallback` is False.
    """

    name = "cuda"

    def __init__(self, *, device: int = 0, **options: Any):
        super().__init__(**options)
        self._options = {"device": device, **options}
        self.device = device
        self.missing = _missing(device)
        self._constants = Uploaded(self._to_device)
        if self.missing is not None:
            if not self.fallback:
                raise ValueError(self.missing)
            warnings.warn(
                f"delegate 'cuda': {self.missing}; the CPU runs everything",
                RuntimeWarning,
                stacklevel=2,
            )

    def __reduce__(self) -> Any:
        return _make, (type(self), self._options)

    def reason_against(self, op: Node) -> str | None:
        """Why the GPU does not run `op`, None if it does."""
        return self.missing or launches.reason_against(op)

    def compile(self, partition: Partition) -> Callable[..., Sequence[Any]]:
        """The partition as a list of kernel launches over one arena on the device."""
        rows = [
            row for op in partition.ops for row in launches.LAUNCHES.known(op.kind).launches(op)
        ]
        with cuda.gpus[self.device]:
            arena = DeviceArena(partition, rows)
            calls = [self._call(row, arena) for row in rows]
            inputs = [arena.view(x) for x in partition.inputs]
            results = [DeviceResult(arena.view(x), x.shape) for x in partition.outputs]

        def run(*arrays):
            with cuda.gpus[self.device]:
                for view, array in zip(inputs, arrays, strict=True):
                    view.copy_to_device(flat(array))
                for call in calls:
                    call()
            return results

        return run

    def _call(self, row: launches.Launch, arena: DeviceArena) -> Callable[[], None]:
        from . import kernels

        inputs = [self._input(x, arena) for x in row.inputs]
        numbers = [np.float32(x) for x in row.numbers]
        arguments = (arena.view(row.out), *inputs, row.sizes, *numbers)
        kernel = getattr(kernels, row.kernel)[_grid(row.sizes[0])]
        return lambda: kernel(*arguments)

    def _input(self, x: Operand | np.ndarray, arena: DeviceArena) -> Any:
        if isinstance(x, np.ndarray):
            return self._to_device(x)
        return arena.view(x) if x.value is None else self._constants(x)

    def _to_device(self, array: np.ndarray) -> Any:
        return cuda.to_device(np.ascontiguousarray(array).reshape(-1))


class DeviceArena:
    """One block of device memory for all values of a partition that change from run to run.

    Outputs of the partition keep their offset to the end, so that later partitions can read them.
    """

    def __init__(self, partition: Partition, rows: Sequence[launches.Launch]):
        end = len(rows)
        lifetimes = {x.storage: [0, 0] for x in partition.inputs}
        for i, row in enumerate(rows):
            for x in (row.out, *row.inputs):
                if isinstance(x, Operand) and x.value is None:
                    lifetimes.setdefault(x.storage, [i, i])[1] = i
        for x in partition.outputs:
            lifetimes[x.storage][1] = end
        device_storages = {storage: Storage(ARENA, storage.nbytes) for storage in lifetimes}
        offsets, n_bytes = planner.assign(
            {device_storages[s]: span for s, span in lifetimes.items()}
        )
        self._first = {storage: offsets[device_storages[storage]] for storage in lifetimes}
        self._memory = cuda.device_array(max(n_bytes // 4, 1), dtype=FLOAT)

    def view(self, operand: Operand) -> Any:
        """The operand's elements, flat, on the device."""
        first = (self._first[operand.storage] + operand.offset) // 4
        return self._memory[first : first + operand.size]


class DeviceResult:
    """A result on the device, which numpy can read."""

    dtype = np.dtype(np.float32)

    def __init__(self, view: Any, shape: tuple[int, ...]):
        self.view = view
        self.shape = shape

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        host = np.empty(self.shape, np.float32)
        self.view.copy_to_host(host.reshape(-1))
        return host if dtype is None else host.astype(dtype)


def flat(array: Any) -> Any:
    """What the interpreter or another partition gave, in one dimension, on whatever side it is."""
    if isinstance(array, DeviceResult):
        return array.view
    return np.ascontiguousarray(array).reshape(-1)


def _grid(n: int) -> tuple[int, int]:
    """Blocks and threads for `n` results; the simulator's threads are Python's, so one."""
    if SIMULATED:
        return 1, 1
    return min(-(-n // THREADS), MAX_BLOCKS), THREADS


def _missing(device: int) -> str | None:
    """Why there is no such GPU; None when there is."""
    if not cuda.is_available():
        return f"there is no CUDA device ({_driver_error()})"
    count = len(cuda.gpus)
    if not isinstance(device, int) or not 0 <= device < count:
        return f"device must be in [0, {count}), got {device!r}"
    return None


def _driver_error() -> str:
    try:
        cuda.current_context()
    except Exception as error:  # whatever the driver's own libraries raise
        words = " ".join(str(error).split())
        return words or type(error).__name__
    return "the driver is there, NVIDIA's compiler is not; pip install 'flatlite[cuda]'"


def _make(cls: type[CudaDelegate], options: dict[str, Any]) -> CudaDelegate:
    return cls(**options)
