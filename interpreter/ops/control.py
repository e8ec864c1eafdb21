"""IF, CASE, WHILE, CALL, CALL_ONCE, COMPOSITE: operators that run other subgraphs."""

import numpy as np

from .. import inline
from ..registry import op


@op("IF")
def if_(node):
    """The results of the `then` or the `else` subgraph, as the first input says."""
    _require_flag(node, node.inputs[0])
    branches = node.options.then_subgraph_index, node.options.else_subgraph_index
    flag, *inputs = node.inputs
    if all(inputs) or not inputs:
        chosen = flag.value
        if chosen is None:
            emit = inline.branch(node, flag, branches, inputs)
        else:
            emit = inline.call(node, branches[0 if chosen.ravel()[0] else 1], inputs)
        if emit is not None:
            return emit

    def run(condition, *inputs):
        then, otherwise = branches
        return node.scope.run(then if condition.ravel()[0] else otherwise, inputs)

    return node.dynamic_result(run, _declared_shapes(node))


@op("WHILE", "STABLEHLO_WHILE")
def while_(node):
    """The inputs, sent through the `body` subgraph as long as the `cond` subgraph says so."""
    condition, body = node.options.cond_subgraph_index, node.options.body_subgraph_index
    if all(node.inputs):
        emit = inline.loop(node, condition, body, node.inputs)
        if emit is not None:
            return emit

    def run(*values):
        while True:
            flag = node.scope.run(condition, values)[0]
            if flag.dtype != bool or flag.size != 1:
                node.fail(f"the condition must give one bool, got {flag.dtype} {flag.shape}")
            if not flag.ravel()[0]:
                return values
            values = node.scope.run(body, values)

    return node.dynamic_result(run, _declared_shapes(node))


@op("STABLEHLO_CASE")
def case(node):
    """The results of the subgraph that the first input numbers; of the last one, out of range."""
    index = node.inputs[0]
    node.require(
        index.dtype == np.int32 and index.size == 1,
        f"the index must be one int32, got {index.dtype} {index.shape}",
    )
    branches = [int(i) for i in node.options.branch_subgraph_indices]
    node.require(branches, "there must be a branch")

    def run(index, *inputs):
        number = int(index.ravel()[0])
        inside = 0 <= number < len(branches)
        return node.scope.run(branches[number if inside else -1], inputs)

    return node.dynamic_result(run, _declared_shapes(node))


@op("CALL")
def call(node):
    """The results of a subgraph."""
    return _called(node, node.options.subgraph)


@op("STABLEHLO_COMPOSITE")
def composite(node):
    """The results of the decomposition: the subgraph that says what the composite does."""
    return _called(node, node.options.decomposition_subgraph_index)


def _called(node, subgraph):
    emit = inline.call(node, subgraph, node.inputs) if all(node.inputs) else None
    if emit is not None:
        return emit
    return node.dynamic_result(
        lambda *inputs: node.scope.run(subgraph, inputs), _declared_shapes(node)
    )


@op("CALL_ONCE")
def call_once(node):
    """Runs a subgraph the first time the model is invoked, to initialise variables."""
    subgraph = node.options.init_subgraph_index

    def run():
        node.scope.run_once(subgraph)
        return []

    return node.dynamic_result(run, ())


def _require_flag(node, condition):
    node.require(
        condition.dtype == bool and condition.size == 1,
        f"the condition must be one bool, got {condition.dtype} {condition.shape}",
    )


def _declared_shapes(node):
    return [declared.shape or () for declared in node.outputs]
