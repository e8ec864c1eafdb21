"""If and While: functions become graphs that IF and WHILE call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...graph.core.library import IMPLEMENTS
from ...graph.core.order import copied_from
from ..ir.graph import Graph, Sizes, Tensor
from ..ir.infer import dynamic_tensor
from .lists import Reserved
from .registry import lower

if TYPE_CHECKING:
    from ...graph.core import graph as tf
    from ..ir.builder import Builder

WIDENINGS = 32
"""Times a loop's shapes are tried; each time more of their dimensions are unknown."""


@lower("If", "StatelessIf")
def if_(node, b):
    """IF of a bool, what is constant within the branches; the branch where the bool is known."""
    condition, *arguments = node.inputs
    bodies = [body_of(node, name) for name in ("then_branch", "else_branch")]
    flag = _flag(node, b, condition)
    if flag.value is not None:
        return inlined(bodies[0] if flag.value.item() else bodies[1], b, arguments)
    used_inputs = [i for i in range(len(arguments)) if any(_is_used(body, i) for body in bodies)]
    passed = [i for i in used_inputs if arguments[i].value is None]
    graphs = [
        lower_body(body, f"{node.name}_{name}", b, arguments, passed)
        for body, name in zip(bodies, ("then", "else"), strict=True)
    ]
    for then_output, else_output in zip(graphs[0].outputs, graphs[1].outputs, strict=True):
        node.require(
            then_output.dtype == else_output.dtype,
            "both branches must give the same types, "
            f"got {then_output.dtype} and {else_output.dtype}",
        )
    if not graphs[0].outputs:
        return ()
    inputs = [arguments[i] for i in passed]
    results = b.IF(flag, *inputs, graphs=graphs, n_outputs=len(node.op.outputs))
    return results if isinstance(results, tuple) else (results,)


@lower("Case", "StatelessCase")
def case(node, b):
    """The branch of a number; an IF for each but the last, which other numbers choose, too."""
    index, *arguments = node.inputs
    functions = node.op.graph.functions
    bodies = [functions.body(reference) for reference in node.attr("branches")]
    if index.value is not None:
        number = int(index.value)
        return inlined(bodies[number if 0 <= number < len(bodies) else -1], b, arguments)
    if len(bodies) == 1:
        return inlined(bodies[0], b, arguments)
    used_inputs = [i for i in range(len(arguments)) if any(_is_used(body, i) for body in bodies)]
    passed = [i for i in used_inputs if arguments[i].value is None]
    graphs = []
    for i, body in enumerate(bodies):
        graph = lower_body(body, f"{node.name}_branch_{i}", b, arguments, passed)
        graph.inputs.insert(0, Tensor(index.name, index.dtype, index.sizes))
        graphs.append(graph)
    if not graphs[0].outputs:
        return ()
    return _chosen(node, b, [index, *(arguments[i] for i in passed)], graphs, 0)


def _chosen(node, b: Builder, inputs: Sequence[Tensor], graphs: Sequence[Graph], number: int):
    """The results of the graph of `graphs` that the first of `inputs` chooses, from `number` on."""
    from ..ir.builder import Builder

    otherwise = graphs[1]
    if len(graphs) > 2:
        otherwise = Graph(f"{node.name}_from_{number + 1}", b.graph.scope)
        otherwise.inputs = [Tensor(x.name, x.dtype, x.sizes, elements=x.elements) for x in inputs]
        inner = Builder(otherwise)
        inner.origin(node.name)
        otherwise.outputs = list(_chosen(node, inner, otherwise.inputs, graphs[1:], number + 1))
    flag = b.EQUAL(inputs[0], np.int32(number))
    n_outputs = len(graphs[0].outputs)
    results = b.IF(flag, *inputs, graphs=[graphs[0], otherwise], n_outputs=n_outputs)
    return results if isinstance(results, tuple) else (results,)


def inlined(body: tf.Graph, b: Builder, arguments: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The results of a function whose operators come among those of its caller."""
    from .lower import Work

    work = Work.of(body)
    tensors = dict(zip(work.inputs, arguments, strict=True))
    for _ in work.lower(b, tensors):
        pass
    return tuple(tensors[tensor] for tensor in work.outputs)


@lower("While", "StatelessWhile", "XlaWhile")
def while_(node, b):
    """WHILE of what changes; constants that do not go into condition and body."""
    arguments = node.inputs
    condition, body = body_of(node, "cond"), body_of(node, "body")
    is_invariant = [_is_loop_invariant(body, i) for i in range(len(arguments))]
    passed = [i for i, x in enumerate(arguments) if not (is_invariant[i] and x.value is not None)]
    if not passed:
        return tuple(arguments)
    unchanged = [i for i in passed if is_invariant[i]]
    arguments, sizes, body_graph = _lower_until_shapes_settle(
        node, b, body, arguments, passed, unchanged
    )
    for i, result in zip(passed, body_graph.outputs, strict=True):
        node.require(
            result.dtype == arguments[i].dtype,
            "the body must keep the types of its values, "
            f"got {result.dtype} for {arguments[i].dtype}",
        )
    check = lower_body(
        condition, f"{node.name}_cond", b, arguments, passed, sizes, unchanged=unchanged
    )
    node.require(
        len(check.outputs) == 1 and check.outputs[0].dtype == bool,
        f"the condition must give one bool, got {[x.dtype.name for x in check.outputs]}",
    )
    results = b.WHILE(*(arguments[i] for i in passed), graphs=(check, body_graph))
    results[0].producer.implements = node.op.attrs.get(f"_{IMPLEMENTS}", b"").decode()
    outputs = list(arguments)
    for i, result in zip(passed, results, strict=True):
        outputs[i] = result
    return tuple(outputs)


def _lower_until_shapes_settle(node, b, body, arguments, passed, unchanged):
    """What enters a loop, the sizes it has in every iteration, and the graph of its body."""
    sizes, dynamic_axes = {i: arguments[i].sizes for i in passed}, {i: set() for i in passed}
    for _ in range(WIDENINGS):
        body_graph = lower_body(
            body, f"{node.name}_body", b, arguments, passed, sizes, passed, unchanged
        )
        if any(isinstance(arguments[i], Reserved) for i in passed):
            arguments = _with_lists(node, b, arguments, passed, body_graph)
            sizes = {i: arguments[i].sizes for i in passed}
            continue
        mismatches = [
            (i, result)
            for i, result in zip(passed, body_graph.outputs, strict=True)
            if not _fits(sizes[i], result.sizes, dynamic_axes[i])
        ]
        if not mismatches:
            return arguments, sizes, body_graph
        for i, result in mismatches:
            sizes[i] = _generalized_sizes(b.graph, sizes[i], result.sizes, dynamic_axes[i])
    return node.fail("the shapes of its values must settle")


def _with_lists(node, b, arguments, passed, body_graph):
    """The arguments, with tensors for lists whose elements the loop's body has told."""
    values = list(arguments)
    for i, result in zip(passed, body_graph.outputs, strict=True):
        if isinstance(values[i], Reserved):
            node.require(
                result.sizes is not None,
                f"the rank of the elements of list {i} must be known; give the model's inputs a "
                "fixed shape",
            )
            values[i] = values[i].filled(b, result.sizes[1:])
    return values


def body_of(node, attribute: str) -> tf.Graph:
    """The body of the function an attribute names."""
    return node.op.graph.functions.body(node.attr(attribute))


def lower_body(
    body: tf.Graph,
    name: str,
    b: Builder,
    arguments: Sequence[Tensor],
    passed: Sequence[int],
    sizes: dict | None = None,
    outputs: Sequence[int] | None = None,
    unchanged: Sequence[int] = (),
) -> Graph:
    """The IR graph of a function.

    Args:
        body: the function.
        name: of the graph.
        b: the builder of the caller.
        arguments: what the caller gives to the function's inputs; constants where not passed.
        passed: positions of the inputs of the graph among them.
        sizes: of these inputs, where they are not those of the arguments.
        outputs: positions of the function's outputs that the graph has; all of them by default.
        unchanged: positions of the inputs that are in each iteration what enters a loop.
    """
    from ..ir.builder import Builder
    from .lower import Work

    work = Work.of(body)
    graph = Graph(name, b.graph.scope)
    inner = Builder(graph)
    tensors: dict[tf.Tensor, Tensor] = {}
    for i, tensor in enumerate(work.inputs):
        inner.origin(tensor.op.name)
        if i in passed:
            passed_in = arguments[i]
            if isinstance(passed_in, Reserved):
                known = passed_in.count
                count = Tensor("", known.dtype, (), known.value, elements=known.elements)
                tensors[tensor] = argument = Reserved(tensor.op.name, passed_in.dtype, count)
            elif sizes is None:
                argument = Tensor(
                    tensor.op.name, passed_in.dtype, passed_in.sizes, elements=passed_in.elements
                )
            else:
                elements = passed_in.elements if i in unchanged else None
                argument = Tensor(tensor.op.name, passed_in.dtype, sizes[i], elements=elements)
            tensors[tensor] = argument
            graph.inputs.append(argument)
        elif arguments[i].value is not None:
            tensors[tensor] = inner.constant(arguments[i].value)
    was_certain, graph.scope.is_certain = graph.scope.is_certain, False
    try:
        for _ in work.lower(inner, tensors):
            pass
    finally:
        graph.scope.is_certain = was_certain
    graph_outputs = work.outputs if outputs is None else [work.outputs[i] for i in outputs]
    graph.outputs = [tensors[tensor] for tensor in graph_outputs]
    return graph


def _fits(sizes: Sizes | None, new_sizes: Sizes | None, dynamic_axes: set[int]) -> bool:
    """Whether a value that enters a loop with some sizes may leave its body with others.

    `dynamic_axes` are the axes whose size may change.
    """
    if sizes is None:
        return True
    if new_sizes is None or len(new_sizes) != len(sizes):
        return False
    pairs = zip(sizes, new_sizes, strict=True)
    return all(old == new or axis in dynamic_axes for axis, (old, new) in enumerate(pairs))


def _generalized_sizes(
    graph: Graph, sizes: Sizes | None, new_sizes: Sizes | None, dynamic_axes: set[int]
) -> Any:
    """Sizes that hold for what enters and for what leaves; axes that differ become dynamic."""
    if sizes is None or new_sizes is None or len(sizes) != len(new_sizes):
        return None
    dynamic_axes |= {
        i for i, (old, new) in enumerate(zip(sizes, new_sizes, strict=True)) if old != new
    }
    return dynamic_tensor(
        graph,
        "",
        np.dtype(np.float32),
        [None if i in dynamic_axes else n for i, n in enumerate(sizes)],
    ).sizes


def _is_loop_invariant(body: tf.Graph, i: int) -> bool:
    """Whether a loop's body gives its i-th input back as it is."""
    inputs, outputs = body.inputs or [], body.outputs or []
    return copied_from(outputs[i]) is inputs[i]


def _is_used(body: tf.Graph, i: int) -> bool:
    tensor = (body.inputs or [])[i]
    return bool(tensor.consumers()) or tensor in (body.outputs or [])


def _flag(node, b, condition):
    """A condition as a bool: a number holds when it is not 0."""
    node.require(
        condition.rank in (0, None),
        f"its condition must be one number or bool, got shape {condition.shape}",
    )
    if condition.dtype == bool:
        return condition
    node.require(condition.dtype.kind in "iuf", f"its condition must not be {condition.dtype}")
    return b.NOT_EQUAL(condition, np.zeros((), condition.dtype))
