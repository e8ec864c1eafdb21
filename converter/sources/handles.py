"""Handles of variables, and references to them: which tensors hold one, and who reads it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from ...graph.core.graph import Operation, Tensor
from ...graph.format.rebuild import Copy

Handles = Mapping[Tensor, frozenset[str]]
"""The variables whose handle, or a reference to which, a tensor holds."""

REFERENCES = ("Variable", "VariableV2")
HANDLES = ("VarHandleOp",)
PASSING = ("Enter", "Exit", "Identity", "IdentityN", "Merge", "NextIteration", "Switch")
REFERENCE_PASSING = {f"Ref{kind}": kind for kind in PASSING if kind != "IdentityN"}
LOOPS = ("StatelessWhile", "While")
BRANCHING = ("Case", "If", "StatelessCase", "StatelessIf")
CALLING = {**dict.fromkeys(BRANCHING, 1), **dict.fromkeys(LOOPS, 0)}
"""Ops that call functions, and how many of their inputs the functions do not get."""


def follow(operations: Iterable[Operation], outside: Handles) -> dict[Tensor, frozenset[str]]:
    """The tensors of `operations`, in order, that hold handles of, or references to, variables.

    `outside` are those of tensors from without, such as a function's arguments.
    """
    handles = dict(outside)
    for op in operations:
        if op.type in REFERENCES + HANDLES:
            handles[op.outputs[0]] = frozenset([op.name])
            continue
        variables = {i: handles[tensor] for i, tensor in enumerate(op.inputs) if tensor in handles}
        if not variables:
            continue
        if op.type == "IdentityN" or op.type in LOOPS:
            handles.update((op.outputs[i], names) for i, names in variables.items())
        elif op.type in REFERENCE_PASSING or (op.type in PASSING and is_handle(op.outputs[0])):
            handles.update(dict.fromkeys(op.outputs, frozenset[str]().union(*variables.values())))
        elif 0 in variables and _shares_memory(op):
            handles[op.outputs[0]] = variables[0]
    return handles


def _shares_memory(op: Operation) -> bool:
    """Whether the first output is the memory of the variable to which the first input refers.

    So it is of what an assignment gives, and of an Identity, which TensorFlow does not copy: what
    reads it later reads what was assigned in between.
    """
    if is_handle(op.inputs[0]) or not op.outputs:
        return False
    outputs = op.signature.outputs if op.signature is not None else ()
    return op.type == "Identity" or (bool(outputs) and outputs[0].is_reference)


def is_handle(tensor: Tensor) -> bool:
    """Whether a tensor is a handle of a resource, such as a variable's."""
    return tensor.dtype is not None and tensor.dtype.names == ("resource",)


def writes(op: Operation, position: int) -> bool:
    """Whether `op` may write the variable that one of its inputs refers to."""
    if is_handle(op.inputs[position]):
        return not (op.type in READING or op.type in PASSING or op.type in CALLING)
    if op.type in REFERENCE_PASSING or op.type in READING:
        return False
    if op.signature is None:
        return True
    arguments = op.signature.inputs
    return position < len(arguments) and arguments[position].is_reference


def reads(op: Operation, position: int) -> bool:
    """Whether the value of the variable that one of its inputs refers to goes into `op`."""
    if op.type in UNREAD or op.type in REFERENCE_PASSING:
        return False
    return not (is_handle(op.inputs[position]) and (op.type in PASSING or op.type in CALLING))


def _value(copy: Copy, op: Operation) -> list[Tensor]:
    return [copy.tensors[op.inputs[0]]]


def _true(copy: Copy, op: Operation) -> list[Tensor]:
    return [copy.graph.constant(np.array(True), op.name)]


def _shape(copy: Copy, op: Operation) -> list[Tensor]:
    attrs = {"out_type": op.get_attr("out_type")}
    return copy.graph.add("Shape", op.name, copy.inputs(op), attrs).outputs


def _gather(copy: Copy, op: Operation) -> list[Tensor]:
    batch_dims: Any = op.get_attr("batch_dims")
    axis = copy.graph.constant(np.int32(batch_dims), f"{op.name}/axis")
    attrs = {"batch_dims": batch_dims}
    return copy.graph.add("GatherV2", op.name, [*copy.inputs(op), axis], attrs).outputs


def _gather_nd(copy: Copy, op: Operation) -> list[Tensor]:
    return copy.graph.add("GatherNd", op.name, copy.inputs(op)).outputs


def _no_outputs(copy: Copy, op: Operation) -> list[Tensor]:
    return []


READING = {
    "DisableCopyOnRead": _no_outputs,
    "IsVariableInitialized": _true,
    "ReadVariableOp": _value,
    "ResourceGather": _gather,
    "ResourceGatherNd": _gather_nd,
    "VariableShape": _shape,
    "VarIsInitializedOp": _true,
}
"""Ops that read the variable that is their first input, and what gives their outputs."""
UNREAD = ("DisableCopyOnRead", "IsVariableInitialized", "VarIsInitializedOp")
"""Those of them whose outputs tell nothing of the variable's value."""
