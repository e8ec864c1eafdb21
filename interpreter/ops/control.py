"""IF, CASE, WHILE, CALL, CALL_ONCE, COMPOSITE: operators that run other subgraphs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import required_input, scope_of
from ..plan import inline
from ..registry import op
from .composites import fused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..plan.node import DynamicResult, Node, Operand, Prepared


@op("IF")
def if_(node: Node) -> Prepared:
    """The results of the `then` or the `else` subgraph, as the first input says."""
    flag = required_input(node, 0)
    _require_flag(node, flag)
    branches = node.options.then_subgraph_index, node.options.else_subgraph_index
    inputs = [x for x in node.inputs[1:] if x is not None]
    if len(inputs) == len(node.inputs) - 1:
        chosen = flag.value
        if chosen is None:
            emit = inline.branch(node, flag, branches, inputs)
        else:
            emit = inline.call(node, branches[0 if chosen.ravel()[0] else 1], inputs)
        if emit is not None:
            return emit

    def run(condition: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        then, otherwise = branches
        return scope_of(node).run(then if condition.ravel()[0] else otherwise, inputs)

    return node.dynamic_result(run, _declared_shapes(node))


@op("WHILE", "STABLEHLO_WHILE")
def while_(node: Node) -> Prepared:
    """The inputs, sent through the `body` subgraph as long as the `cond` subgraph says so."""
    condition, body = node.options.cond_subgraph_index, node.options.body_subgraph_index
    inputs = [x for x in node.inputs if x is not None]
    if len(inputs) == len(node.inputs):
        emit = inline.loop(node, condition, body, inputs)
        if emit is not None:
            return emit

    def run(*initial: np.ndarray) -> Sequence[np.ndarray]:
        scope, values = scope_of(node), initial
        while True:
            flag = scope.run(condition, values)[0]
            if flag.dtype != bool or flag.size != 1:
                node.fail(
                    f"the condition must give one bool, got {tf_name(flag.dtype)} {flag.shape}"
                )
            if not flag.ravel()[0]:
                return values
            values = scope.run(body, values)

    return node.dynamic_result(run, _declared_shapes(node))


@op("STABLEHLO_CASE")
def case(node: Node) -> Prepared:
    """The results of the subgraph that the first input numbers; of the last one, out of range."""
    index = required_input(node, 0)
    node.require(
        index.dtype == np.int32 and index.size == 1,
        f"the index must be one int32, got {tf_name(index.dtype)} {index.shape}",
    )
    branches = [int(i) for i in node.options.branch_subgraph_indices]
    node.require(branches, "there must be a branch")
    inputs = [x for x in node.inputs[1:] if x is not None]
    if len(inputs) == len(node.inputs) - 1:
        number = index.value
        if number is None:
            emit = inline.switch(node, index, branches, inputs)
        else:
            chosen = int(number.ravel()[0])
            inside = 0 <= chosen < len(branches)
            emit = inline.call(node, branches[chosen if inside else -1], inputs)
        if emit is not None:
            return emit

    def run(index: np.ndarray, *inputs: np.ndarray) -> list[np.ndarray]:
        number = int(index.ravel()[0])
        inside = 0 <= number < len(branches)
        return scope_of(node).run(branches[number if inside else -1], inputs)

    return node.dynamic_result(run, _declared_shapes(node))


@op("CALL")
def call(node: Node) -> Prepared:
    """The results of a subgraph."""
    return _called(node, node.options.subgraph)


@op("STABLEHLO_COMPOSITE")
def composite(node: Node) -> Prepared:
    """The results of the decomposition: the subgraph that says what the composite does.

    A composite with a name that is known here is a few instructions instead (composites.py).
    """
    emit = fused(node)
    return emit if emit is not None else _called(node, node.options.decomposition_subgraph_index)


def _called(node: Node, subgraph: int) -> Prepared:
    operands = [x for x in node.inputs if x is not None]
    if len(operands) == len(node.inputs):
        emit = inline.call(node, subgraph, operands)
        if emit is not None:
            return emit

    def run(*inputs: np.ndarray) -> list[np.ndarray]:
        return scope_of(node).run(subgraph, inputs)

    return node.dynamic_result(run, _declared_shapes(node))


@op("CALL_ONCE")
def call_once(node: Node) -> DynamicResult:
    """Runs a subgraph the first time the model is invoked, to initialise variables."""
    subgraph = node.options.init_subgraph_index

    def run() -> list[np.ndarray]:
        scope_of(node).run_once(subgraph)
        return []

    def is_done() -> bool:
        return scope_of(node).has_run(subgraph)

    return node.dynamic_result(run, (), is_done)


def _require_flag(node: Node, condition: Operand) -> None:
    node.require(
        condition.dtype == bool and condition.size == 1,
        f"the condition must be one bool, got {tf_name(condition.dtype)} {condition.shape}",
    )


def _declared_shapes(node: Node) -> list[tuple[int, ...]]:
    return [declared.shape or () for declared in node.outputs]
