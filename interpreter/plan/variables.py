"""Resource variables that an operator updates in their own memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...schema.operators import known

if TYPE_CHECKING:
    from ..spec import OperatorSpec, SubgraphSpec

_READ, _ASSIGN, _HANDLE = "READ_VARIABLE", "ASSIGN_VARIABLE", "VAR_HANDLE"
_UPDATES = frozenset(["DYNAMIC_UPDATE_SLICE"])
"""Operators that update an operand in place where it has no later reader."""
_SELECTS_BY_VALUE = frozenset(["DYNAMIC_UPDATE_SLICE"])
"""Operators whose other integers may have any value: they are clamped to the valid range."""


def is_in_place(spec: SubgraphSpec, update: int, assignment: int) -> bool:
    """Whether a variable that operator `update` overwrites is the one that `assignment` assigns.

    It must be read and assigned once in the subgraph, in this order, and no operator between the
    update and the assignment may fail: the variable has its old value then. A variable that one of
    them reads has a value if it had one in the run before. The subgraphs that others run might use
    the same variable; only those that run once, before it is read, may be there.
    """
    operators = {operator.position: operator for operator in spec.operators}
    assign, updater = operators[assignment], operators[update]
    reader = next((x for x in spec.operators if updater.inputs[0] in x.outputs), None)
    names = _names(spec)
    if reader is None or reader.kind != _READ or update >= assignment:
        return False
    name = names.get(reader.inputs[0])
    users = [x for x in spec.operators if x.kind in (_READ, _ASSIGN)]
    if name is None or any(user.inputs[0] not in names for user in users):
        return False
    if [user for user in users if names[user.inputs[0]] == name] != [reader, assign]:
        return False
    if any(_runs_others(x) and x.position > reader.position for x in spec.operators):
        return False
    between = (x for x in spec.operators if update < x.position < assignment)
    return all(x.kind in (_READ, _ASSIGN, _HANDLE) or _succeeds(spec, x) for x in between)


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
            if operator.kind == _ASSIGN or _runs_others(operator):
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


def _runs_others(operator: OperatorSpec) -> bool:
    """Whether an operator runs subgraphs, or what is not ours."""
    return operator.is_custom or bool(known(operator.kind).calls)


def _succeeds(spec: SubgraphSpec, operator: OperatorSpec) -> bool:
    row = None if operator.is_custom else known(operator.kind)
    if row is None or not row.has("total"):
        return False
    if row.has("total=unscaled") and spec.tensors[operator.inputs[0]].quantization is not None:
        return False
    tensors = [spec.tensors[t] for t in operator.inputs[1:] if t >= 0]
    return operator.kind in _SELECTS_BY_VALUE or all(
        x.is_constant or x.dtype.kind not in "iu" for x in tensors
    )
