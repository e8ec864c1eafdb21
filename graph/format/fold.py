"""Constant folding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeGuard, cast

import numpy as np

from ..core.graph import Graph, Operation, Tensor
from ..core.infer import KERNEL_ERRORS, EvaluatedOperation, call_kernel, infer_shapes, known_bytes
from ..core.registry import Row, row_of
from .rebuild import Copy, rebuild

if TYPE_CHECKING:
    from ..core.protocols import AttrValue

MIN_BYTES = 1 << 20
GROWTH = 4
"""An output may have MIN_BYTES, or GROWTH times the bytes of the inputs."""
TOTAL_BYTES = 256 << 20

FAKE_QUANT = frozenset(
    (
        "FakeQuantWithMinMaxArgs",
        "FakeQuantWithMinMaxVars",
        "FakeQuantWithMinMaxVarsPerChannel",
        "QuantizeAndDequantize",
        "QuantizeAndDequantizeV2",
        "QuantizeAndDequantizeV3",
        "QuantizeAndDequantizeV4",
    )
)
"""Op types that stay: a quantizer still wants their ranges."""
UNFOLDED = FAKE_QUANT | {"Const"}
MOVING = frozenset(("Identity", "Reshape", "Transpose"))
"""Op types that stay where they move what was fake-quantized."""


def fold(graph: Graph) -> Graph:
    """A copy of `graph` in which what depends on constants and static shapes alone is a Const.

    Only pure ops are run, by their reference kernels, and only where the output is at most 1 MiB or
    four times the inputs, and all outputs together at most 256 MiB. A Const has the name of the
    operation whose first output it is, and `name/output_1` for the second.
    """
    return rebuild(graph, None, _Folding())


class _Folding:
    """Decides for each operation, and counts the bytes that are still allowed."""

    def __init__(self):
        self.budget = TOTAL_BYTES
        self._ranged: set[Operation] = set()

    def __call__(self, op: Operation, copy: Copy) -> bool:
        moves = op.type in MOVING and op.inputs[0].op in self._ranged
        if moves or op.type in FAKE_QUANT:
            self._ranged.add(op)
            return False
        row = row_of(op.type)
        if row is None or not row.is_pure or op.type in UNFOLDED or copy.control_inputs(op):
            return False
        if not op.outputs or any(tensor.op.type == "NextIteration" for tensor in op.inputs):
            return False
        arrays = self._results(op, row, copy)
        if arrays is None:
            return False
        self.budget -= sum(array.nbytes for array in arrays)
        constants: list[Tensor] = []
        for index, array in enumerate(arrays):
            name = op.name if index == 0 else copy.graph.unique_name(f"{op.name}/output_{index}")
            attrs: dict[str, AttrValue] = {"value": array, "dtype": op.outputs[index].dtype}
            constants.append(copy.graph.add("Const", name, (), attrs, (), op.device).outputs[0])
        copy.maps_to(op, constants, [constants[0].op])
        return True

    def _results(self, op: Operation, row: Row, copy: Copy) -> list[np.ndarray] | None:
        """The constant outputs of `op`, None when it has others or they are too large."""
        results = [
            np.asarray(tensor.value, tensor.dtype)
            for tensor in op.outputs
            if _is_known(tensor.value)
        ]
        if len(results) < len(op.outputs):
            inputs = [tensor.op for tensor in copy.inputs(op) if tensor is not None]
            if any(producer.type != "Const" for producer in inputs):
                return None
            arrays = [cast("np.ndarray", producer.attrs["value"]) for producer in inputs]
            allowed = max(MIN_BYTES, GROWTH * sum(array.nbytes for array in arrays))
            if not self._fits(op, arrays, row, min(allowed, self.budget)):
                return None
            try:
                with np.errstate(all="ignore"):
                    results = call_kernel(row, op, arrays)
            except KERNEL_ERRORS:
                return None
        return results if sum(array.nbytes for array in results) <= self.budget else None

    @staticmethod
    def _fits(op: Operation, arrays: Sequence[np.ndarray], row: Row, allowed: int) -> bool:
        """Whether the outputs take at most `allowed` bytes, as far as shapes tell beforehand.

        What depends on the data has no shape yet; no such op gives more than its inputs hold.
        """
        try:
            shapes = infer_shapes(EvaluatedOperation(op, arrays), row)
        except ValueError:
            return False
        return known_bytes(op, shapes) <= allowed


def _is_known(array: np.ndarray | None) -> TypeGuard[np.ndarray]:
    return array is not None and not (
        array.dtype.kind == "O" and any(item is None for item in array.flat)
    )
