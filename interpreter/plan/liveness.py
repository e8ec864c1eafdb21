"""Which operators of a subgraph have to run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..registry import is_pure

if TYPE_CHECKING:
    from ..spec import OperatorSpec, SubgraphSpec


def live_operators(spec: SubgraphSpec, keeps_all: bool) -> frozenset[int]:
    """Positions of the operators that an output or a side effect needs; or of all of them."""
    if keeps_all:
        return frozenset(range(len(spec.operators)))
    needed: set[int] = set(spec.outputs)
    live: set[int] = set()
    for operator in reversed(spec.operators):
        if not needed.isdisjoint(operator.outputs) or not has_no_effects(spec, operator):
            live.add(operator.position)
            needed.update(operator.inputs)
    return frozenset(live)


def has_no_effects(spec: SubgraphSpec, operator: OperatorSpec) -> bool:
    """Whether nothing but its results tells that `operator` ran."""
    touches_variables = not spec.variables.isdisjoint(operator.inputs)
    return not operator.is_custom and not touches_variables and is_pure(operator.kind)
