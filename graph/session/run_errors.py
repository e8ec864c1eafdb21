"""The errors of a run, in TensorFlow's types and words."""

from __future__ import annotations

from ...engine.run import array_faults
from ...engine.run.faults import Fault
from ...schema import errors
from ..core.graph import Operation
from ..core.operation_errors import located
from ..core.shapes import shown
from ..format.element_shapes import NAMED, READS, holder_name
from .keys import name_of
from .tensor_arrays import (
    IS_EMPTY,
    IS_FULL,
    READ_OUT_OF_RANGE,
    WAS_CLEARED,
    WAS_READ,
    WAS_WRITTEN,
    WITHOUT_SHAPE,
    WRITE_OUT_OF_RANGE,
)

FAULTS = {
    **dict.fromkeys(
        (
            *("ResourceScatterAdd", "ResourceScatterSub", "ResourceScatterUpdate"),
            *("ScatterAdd", "ScatterSub", "ScatterUpdate"),
        ),
        "indices[{i}] = {value} is not in [0, {limit})",
    ),
    **dict.fromkeys(("FloorDiv", "FloorMod"), "Integer division by zero"),
    "RandomUniformInt": "Need minval < maxval, got {value} >= {limit}",
    "StridedSlice": "slice index {value} of dimension {axis} out of bounds.",
    "TensorArrayV3": "Size should be >= 0.",
    "TensorListGather": "Index {value} out o range; list only has {limit} elements.",
    "TensorListGetItem": "Trying to access element {value} in a list with {limit} elements.",
    "TensorListPopBack": "Trying to pop from an empty list.",
    "TensorListReserve": (
        "The num_elements to reserve must be a non negative number, but got {value}"
    ),
    "TensorListResize": ("TensorListSlice expects size to be non-negative. Got: {value}"),
    "TensorListSetItem": "Trying to modify element {value} in a list with {limit} elements.",
    "UnsortedSegmentSum": "segment_ids[{i}] = {value} is out of range [0, {limit})",
    "GatherV2": "indices[{i}] = {value} is not in [0, {limit})",
    "ResourceGather": "indices[{i}] = {value} is not in [0, {limit})",
    "SparseSoftmaxCrossEntropyWithLogits": (
        "Received a label value of {value} which is outside the valid range of [0, {limit})."
    ),
}
"""TensorFlow's words for what kernels of the engine complain about."""
ELEMENT_FAULTS = {
    array_faults.ALREADY_READ: WAS_READ,
    array_faults.ALREADY_WRITTEN: WAS_WRITTEN,
    array_faults.CLEARED_BY_READ: WAS_CLEARED,
    array_faults.NO_ELEMENT: IS_EMPTY,
    array_faults.NO_ROOM: IS_FULL,
    array_faults.WITHOUT_VALUE: WITHOUT_SHAPE,
}
"""The words for faults of elements, of tensor arrays and stacks."""


def fault_words(fault: Fault) -> str:
    """What a kernel complained about."""
    if fault.tag.type in NAMED:
        return _element_words(fault)
    words = FAULTS.get(fault.tag.type)
    if words is None:
        return str(fault)
    if fault.tag.type == "StridedSlice":  # counted from the end where it was negative
        sizes = fault.tag.inputs[0].sizes or ()
        axis = sizes.index(fault.limit) if fault.limit in sizes else 0
        value = fault.value - fault.limit if fault.value < 0 else fault.value
        return words.format(value=value, axis=axis)
    return words.format(i=fault.i, value=fault.value, limit=fault.limit)


def _element_words(fault: Fault) -> str:
    """What is wrong with an element of a tensor array or a stack."""
    out_of_range = READ_OUT_OF_RANGE if fault.tag.type in READS else WRITE_OUT_OF_RANGE
    words = ELEMENT_FAULTS.get(fault.code, out_of_range)
    return words.format(
        name=holder_name(fault.tag).decode(),
        index=fault.value,
        size=fault.limit,
        shape=shown(None),
    )


def uninitialized(op: Operation, key: str) -> errors.OpError:
    """The error of an operation that reads a variable without a value."""
    key = name_of(key)
    if op.type == "ReadVariableOp" or op.type.startswith("Resource"):
        words = (
            f"Could not find variable {key}. This could mean that the variable has been deleted. "
            "In TF1, it can also mean the variable is uninitialized."
        )
    else:
        words = f"Attempting to use uninitialized value {key}"
    return errors.FailedPreconditionError(None, op, located(op, words))
