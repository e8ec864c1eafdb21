"""Runs graphs on numpy arrays with the reference kernels: the oracle of verification."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...schema import errors
from ...schema.dtypes import RESOURCE, VARIANT, array_dtype
from . import blas
from .graph import Graph, Operation, Tensor
from .infer import KERNEL_ERRORS, EvaluatedOperation, call_kernel, infer_shapes, known_bytes
from .order import is_back_edge, ordered
from .registry import Row, row_of
from .shapes import is_static
from .signatures.limits import LIMITS, MAX_DEPTH, Limits

if TYPE_CHECKING:
    import numpy.typing as npt


def evaluate(
    graph: Graph,
    fetches: Sequence[Tensor],
    feeds: Mapping[Tensor, npt.ArrayLike],
    *,
    memory: int | None = None,
    seconds: float | None = None,
) -> list[np.ndarray]:
    """The values of `fetches` when the tensors of `feeds` have the given values.

    Arrays are freed as soon as nothing reads them any more.

    Args:
        graph: Where the tensors are.
        fetches: What to compute.
        feeds: Values by tensor; what is fed is not computed.
        memory: Bytes that may be in use at once, three quarters of the free memory by default.
        seconds: How long it may take, checked between operations.

    Raises:
        ValueError: a fed value has not the shape of its tensor.
        OpError: an operation failed; the message names it and the dtypes and shapes of its inputs.
            UnimplementedError when it has no reference kernel, ResourceExhaustedError before an
            output that would not fit, DeadlineExceededError when the time is over.
    """
    values = {tensor: _fed(tensor, value) for tensor, value in feeds.items()}
    token = LIMITS.set(Limits.of(memory, seconds))
    try:
        with np.errstate(all="ignore"), blas.one_thread_at_first():
            return _Run(graph, fetches, values).run()
    finally:
        LIMITS.reset(token)


def evaluate_body(body: Graph, arguments: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The outputs of a function's body, within the evaluation that is going on, or in a session."""
    limits = (LIMITS.get(None) or Limits.of(None, None)).deeper()
    if limits.depth > MAX_DEPTH:
        raise errors.ResourceExhaustedError(None, None, f"calls may be {MAX_DEPTH} deep")
    token = LIMITS.set(limits)
    try:
        feeds = dict(zip(body.inputs or (), arguments, strict=True))
        return _Run(body, body.outputs or (), feeds).run()
    finally:
        LIMITS.reset(token)


def _fed(tensor: Tensor, value: npt.ArrayLike) -> np.ndarray:
    """A fed value as an array of the tensor's dtype."""
    dtype: np.dtype | None = None if tensor.dtype is None else tensor.dtype.dtype
    if dtype is not None:
        dtype = None if dtype in (RESOURCE, VARIANT) else array_dtype(dtype)
    array = np.asarray(value, dtype)
    shape = tensor.sizes
    if shape is not None and (
        len(shape) != array.ndim
        or any(size not in (None, got) for size, got in zip(shape, array.shape, strict=True))
    ):
        shown = "(" + ", ".join("?" if size is None else str(size) for size in shape) + ")"
        raise ValueError(
            f"Cannot feed value of shape {array.shape} for Tensor {tensor.name}, "
            f"which has shape {shown}"
        )
    return array


class _Run:
    """One evaluation: the arrays that are alive and how often each will still be read."""

    def __init__(
        self, graph: Graph, fetches: Sequence[Tensor], values: Mapping[Tensor, np.ndarray]
    ):
        self.fetches = fetches
        self.values = dict(values)
        self.limits = LIMITS.get()
        self.order = self._order(graph)
        self.readers = Counter(tensor for op in self.order for tensor in op.inputs)
        self.readers.update(fetches)
        self.live = sum(array.nbytes for array in values.values())

    def _order(self, graph: Graph) -> list[Operation]:
        """The operations to run: those that the fetches need and that are not fed."""

        def before(op: Operation) -> Iterator[Operation]:
            for tensor in op.inputs:
                if tensor not in self.values and not is_back_edge(op.type, tensor.op.type):
                    yield tensor.op
            yield from (other for other in op.control_inputs if not _is_idle(other))

        return ordered((t.op for t in self.fetches if t not in self.values), before)

    def run(self) -> list[np.ndarray]:
        """Computes the fetches."""
        for op in self.order:
            if self.limits.deadline is not None and time.monotonic() > self.limits.deadline:
                raise errors.DeadlineExceededError(None, op, f"time is over at {_where(op)}")
            blas.check()
            self._step(op)
        return [self.values[tensor] for tensor in self.fetches]

    def _step(self, op: Operation) -> None:
        """Runs one operation and frees what nothing reads any more."""
        arrays = [self.values[tensor] for tensor in op.inputs]
        row = row_of(op.type)
        if row is None or row.kernel is None:
            raise errors.UnimplementedError(None, op, f"{_where(op)} has no reference kernel")
        try:
            self._check_memory(op, row, arrays)
            results = call_kernel(row, op, arrays)
        except MemoryError as error:
            raise errors.ResourceExhaustedError(None, op, f"{_failed(op, error, arrays)}") from None
        except KERNEL_ERRORS as error:
            raise errors.InvalidArgumentError(None, op, _failed(op, error, arrays)) from error
        for tensor, array in zip(op.outputs, results, strict=True):
            if self.readers[tensor] and tensor not in self.values:
                self.values[tensor] = array
                self.live += array.nbytes
        for tensor in op.inputs:
            self.readers[tensor] -= 1
            if not self.readers[tensor]:
                self.live -= self.values.pop(tensor).nbytes

    def _check_memory(self, op: Operation, row: Row, arrays: list[np.ndarray]) -> None:
        """Raises ResourceExhaustedError when the outputs would not fit."""
        shapes = [tensor.sizes for tensor in op.outputs]
        if not all(is_static(shape) for shape in shapes):
            shapes = infer_shapes(EvaluatedOperation(op, arrays), row)
        needed = known_bytes(op, shapes)
        if self.live + needed > self.limits.memory:
            raise errors.ResourceExhaustedError(
                None, op, f"{_where(op)} needs {needed} bytes, {self.limits.memory} are allowed"
            )


def _is_idle(op: Operation) -> bool:
    """Whether waiting for `op` changes nothing: it has no state of its own."""
    signature = op.signature
    return signature is not None and not signature.is_stateful and not op.control_inputs


def _where(op: Operation) -> str:
    return f"{op.type} '{op.name}'"


def _failed(op: Operation, error: BaseException, arrays: list[np.ndarray]) -> str:
    """What went wrong in an operation, and on which inputs."""
    reason = str(error).removeprefix(f"{_where(op)}: ") or type(error).__name__
    shown = ", ".join(f"{array.dtype}{list(array.shape)}" for array in arrays) or "none"
    return f"{_where(op)}: {reason} (inputs: {shown})"


def as_results(arrays: Sequence[np.ndarray]) -> np.ndarray | Sequence[np.ndarray]:
    """What a kernel returns for its outputs: a single one by itself."""
    return arrays[0] if len(arrays) == 1 else arrays


def is_true(condition: np.ndarray) -> bool:
    """Whether a condition holds: a number that is not zero, or anything that is not empty."""
    if condition.ndim:
        return condition.size > 0
    item = condition.item()
    return len(item) > 0 if isinstance(item, bytes) else bool(item)
