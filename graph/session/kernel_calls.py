"""Operations of a Session run by their kernels, one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from ...schema import dtypes, errors
from ..core.calls import call_type
from ..core.graph import Operation, Tensor
from ..core.infer import KERNEL_ERRORS, each_output, wrong_rank
from ..core.operation_errors import failed, located
from ..core.registry import row_of
from .hosted import HOSTED
from .kernel_words import kernel_words
from .run_limits import check_size

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..core.protocols import DTypeAttr, Kernel
    from .state import State


DIRECT = frozenset(
    (
        *("StackPop", "StackPopV2", "StackPush", "StackPushV2"),
        *(f"TensorArray{name}V3" for name in ("Read", "Size", "Write")),
    )
)
"""Operations whose kernels only move arrays of the declared dtypes; loops call them often."""


def has_kernel(op: Operation) -> bool:
    """Whether there is a kernel, in Python, for an operation."""
    row = row_of(op.type)
    return HOSTED.get(call_type(op)) is not None or (row is not None and row.kernel is not None)


def call_kernel(
    op: Operation, state: State, arrays: Sequence[np.ndarray], in_place: bool = False
) -> list[np.ndarray]:
    """What the kernel of an operation gives, in the dtypes that are declared.

    Nothing where it changes its operands `in_place`.
    """
    hosted, row = HOSTED.get(call_type(op)), row_of(op.type)
    try:
        with np.errstate(all="ignore"):
            if hosted is not None:
                results = hosted(op, state, *arrays)
            elif row is None or row.kernel is None:
                raise no_kernel(op)
            else:
                keywords = {n: op if n == "op" else op.get_attr(n) for n in row.attrs}
                results = _kernel(op, row.kernel, arrays)(*arrays, **keywords)
    except KERNEL_ERRORS as error:
        words = str(error).removeprefix(f"{op.type} '{op.name}': ") or type(error).__name__
        words = wrong_rank(op.type, arrays) or words
        shapes = [array.shape for array in arrays]
        raise failed(op, kernel_words(op, shapes, arrays, words)) from error
    if in_place:
        return []
    return [
        _as_array(result).astype(array_dtype(tensor.dtype), copy=False)
        for tensor, result in zip(op.outputs, each_output(op, results), strict=True)
    ]


def _as_array(result: npt.ArrayLike) -> np.ndarray:
    """What a kernel gives; numpy's own texts would lose zeros at their ends."""
    return np.array(result, object) if isinstance(result, bytes) else np.asarray(result)


def call_direct(
    op: Operation, state: State, arrays: Sequence[np.ndarray], in_place: bool = False
) -> Sequence[np.ndarray]:
    """What `call_kernel` gives, of an operation among `DIRECT`."""
    kernel = HOSTED.get(op.type)
    assert kernel is not None
    try:
        results = cast("Sequence[np.ndarray]", each_output(op, kernel(op, state, *arrays)))
    except KERNEL_ERRORS:
        return call_kernel(op, state, arrays, in_place)  # which has words for it
    return results


def no_kernel(op: Operation) -> errors.UnimplementedError:
    """The error for an operation that cannot be run."""
    words = f"Op type {op.type} has no kernel"
    return errors.UnimplementedError(None, op, located(op, words))


def _kernel(op: Operation, kernel: Kernel, arrays: Sequence[np.ndarray]) -> Kernel:
    """The kernel of an op, or its kernel for 16-bit floats where the first operand has such."""
    if not arrays or arrays[0].dtype.itemsize != 2 or arrays[0].dtype.kind not in "fV":
        return kernel
    from ..ops.narrow import KERNELS

    return KERNELS.get(op.type, kernel)


def array_dtype(dtype: DTypeAttr) -> DTypeAttr:
    """The dtype of arrays of an element type."""
    return dtypes.array_dtype(np.dtype(dtype)) if dtype.names else dtype


class KernelRun:
    """Operations run by kernels alone: nothing is compiled for the sizes that come.

    Args:
        state: Of the Session.
        operations: What to run, in their order; each has a kernel.
        fetches: What is computed.
    """

    def __init__(self, state: State, operations: Sequence[Operation], fetches: Sequence[Tensor]):
        self._state, self._fetches = state, fetches
        self._constants = {
            op.outputs[0]: call_kernel(op, state, [])[0] for op in operations if op.type == "Const"
        }
        last_use = {tensor: op for op in operations for tensor in (*op.outputs, *op.inputs)}
        ends: dict[Operation, list[Tensor]] = {}
        for tensor, op in last_use.items():
            if tensor not in fetches:
                ends.setdefault(op, []).append(tensor)
        self._steps = [(op, ends.get(op, [])) for op in operations if op.type != "Const"]

    def fetch(self, feeds: Mapping[Tensor, np.ndarray]) -> dict[Tensor, np.ndarray]:
        """The arrays of the fetched tensors, some of which may be parts of those that are fed."""
        values, limits = {**self._constants, **feeds}, self._state.limits
        self._state.control.check()
        for op, done in self._steps:
            results = call_kernel(op, self._state, [values[tensor] for tensor in op.inputs])
            if limits is not None:
                for tensor, array in zip(op.outputs, results, strict=True):
                    check_size(limits, op, tensor.name, array.shape)
            values.update(zip(op.outputs, results, strict=True))
            for tensor in done:
                values.pop(tensor, None)
        return {tensor: values[tensor] for tensor in self._fetches}
