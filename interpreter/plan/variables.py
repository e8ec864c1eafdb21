"""Resource variables that an operator updates in their own memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...schema.operators import known

if TYPE_CHECKING:
    from ..spec import OperatorSpec, SubgraphSpec

_READ, _ASSIGN, _HANDLE = "READ_VARIABLE", "ASSIGN_VARIABLE", "VAR_HANDLE"
_UPDATES = frozenset(["DYNAMIC_UPDATE_SLICE", "STABLEHLO_DYNAMIC_UPDATE_SLICE"])
"""Operators that update an operand in place where it has no later reader, at any position."""


def is_updated_in_place(spec: SubgraphSpec, reader: int) -> bool:
    """Whether one operator updates what operator `reader` reads of a variable, for the assignment.

    The variable must be read and assigned once in the subgraph, in this order, and no operator
    between the update and the assignment may fail: the variable has its old value then. A variable
    that one of them reads has a value if it had one in the run before. The subgraphs that others
    run might use the same variable; only those that run once, before it is read, may be there.
    """
    read, names = spec.operators[reader], _names(spec)
    (value,), name = read.outputs, names.get(read.inputs[0])
    readers = [x for x in spec.operators for tensor in x.inputs if tensor == value]
    if value in spec.outputs or [x.kind in _UPDATES for x in readers] != [True]:
        return False
    accesses = [x for x in spec.operators if x.kind in (_READ, _ASSIGN)]
    if name is None or any(x.inputs[0] not in names for x in accesses):
        return False
    update, (first, *others) = readers[0], (x for x in accesses if names[x.inputs[0]] == name)
    if first is not read or [x.kind for x in others] != [_ASSIGN]:
        return False
    if any(runs_others(x) and x.position > reader for x in spec.operators):
        return False
    begin, end = update.position, others[0].position
    between = (x for x in spec.operators if begin < x.position < end)
    return begin < end and all(
        x.kind in (_READ, _ASSIGN, _HANDLE) or _succeeds(spec, x) for x in between
    )


def is_read_before_changes(spec: SubgraphSpec, reader: int) -> bool:
    """Whether all that may lie in the memory of a variable is read before any variable changes.

    `reader` is the operator that reads the variable. What operators that compute give lies
    elsewhere; others may give their operand as it is.
    """
    operators = sorted(spec.operators, key=lambda operator: operator.position)
    in_memory, is_changed = set[int](), False
    for operator in operators:
        if operator.position == reader:
            in_memory.update(operator.outputs)
        elif operator.position > reader:
            reads_it = not in_memory.isdisjoint(operator.inputs)
            if reads_it and (is_changed or operator.kind in _UPDATES):
                return False
            if operator.kind == _ASSIGN or runs_others(operator):
                is_changed = True
            elif reads_it and not _gives_new_memory(operator):
                in_memory.update(operator.outputs)
    return in_memory.isdisjoint(spec.outputs)


def _gives_new_memory(operator: OperatorSpec) -> bool:
    facts = known(operator.kind)
    if facts.has("joins"):
        return len(operator.inputs) > 1
    return any(facts.has(trait) for trait in ("linear", "reduction", "broadcast"))


def _names(spec: SubgraphSpec) -> Mapping[int, tuple[str, str]]:
    """Tensor of a handle -> container and name of the variable."""
    return {
        operator.outputs[0]: (operator.options.container or "", operator.options.shared_name or "")
        for operator in spec.operators
        if operator.kind == _HANDLE and operator.options is not None
    }


def runs_others(operator: OperatorSpec) -> bool:
    """Whether an operator runs subgraphs, or what is not ours."""
    return operator.is_custom or bool(known(operator.kind).calls)


def _succeeds(spec: SubgraphSpec, operator: OperatorSpec) -> bool:
    row = None if operator.is_custom else known(operator.kind)
    if row is None or not row.has("total"):
        return False
    if row.has("total=unscaled") and spec.tensors[operator.inputs[0]].quantization is not None:
        return False
    tensors = [spec.tensors[t] for t in operator.inputs[1:] if t >= 0]
    return operator.kind in _UPDATES or all(
        x.is_constant or x.dtype.kind not in "iu" for x in tensors
    )
