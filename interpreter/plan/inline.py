"""Subgraphs as instructions of their caller's program: loops, branches and calls in machine code.

A subgraph can when all its shapes are fixed and nothing has to be looked at between its operators;
others are run by Python, one after the other (scope.py).
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import numpy as np

from ...engine.families import control
from ...engine.families.elementwise import elementwise
from ...engine.plan.buffer import arena, constant, persistent
from .node import Node, NodeError, Operand, PlanError
from .planner import Planner, Recording

if TYPE_CHECKING:
    from ...engine.plan.buffer import Storage
    from ...engine.plan.program import Program
    from .node import Emit
    from .scope import OperandKey

MAX_INLINED = 2048
"""Operators that one subgraph, with all it calls, may add to its caller's program."""

MAX_REMEMBERED = 256
"""Calls of which it is kept that they cannot be inlined."""


def call(node: Node, subgraph: int, inputs: Sequence[Operand]) -> Emit | None:
    """`emit` of a call whose results become those of `node`; None where Python has to do it."""
    recording = record(node, subgraph, inputs)
    if recording is None:
        return None
    for value in recording.values:
        node.alias(value, value.shape)
    return recording.emit


def branch(
    node: Node, flag: Operand, subgraphs: Sequence[int], inputs: Sequence[Operand]
) -> Emit | None:
    """`emit` of whichever of two subgraphs the flag chooses, `then` and `otherwise`."""
    then = record(node, subgraphs[0], inputs)
    otherwise = then and record(node, subgraphs[1], inputs)
    if then is None or otherwise is None or _kinds(then.values) != _kinds(otherwise.values):
        return None
    outs = [persistent(value.shape, value.dtype) for value in then.values]
    for out in outs:
        node.alias(out, out.shape)

    def emit(program: Program) -> None:
        control.choose(program, flag, then, otherwise, outs)

    return emit


def switch(
    node: Node, index: Operand, subgraphs: Sequence[int], inputs: Sequence[Operand]
) -> Emit | None:
    """`emit` of the subgraph that an int32 numbers; of the last one, where it numbers none."""
    bodies: list[Recording] = []
    for subgraph in subgraphs:
        body = record(node, subgraph, inputs)
        if body is None or (bodies and _kinds(body.values) != _kinds(bodies[0].values)):
            return None
        bodies.append(body)
    outs = [persistent(value.shape, value.dtype) for value in bodies[0].values]
    for out in outs:
        node.alias(out, out.shape)

    def emit(program: Program) -> None:
        flags = [arena((1,), np.bool_) for _ in bodies[:-1]]
        for i, flag in enumerate(flags):
            number = constant(np.array([i], np.int32))
            elementwise(program, "compare.equal", (index.reshape((1,)), number), flag)
        control.switch(program, flags, bodies, outs)

    return emit


def loop(node: Node, condition: int, body: int, inputs: Sequence[Operand]) -> Emit | None:
    """`emit` of a loop: the inputs, sent through `body` as long as `condition` says so."""
    fixed = _unchanged(node, body)
    if node.scope is None or len(fixed) != len(inputs):
        return None
    carried = [
        operand if same else Operand.of(persistent(operand.shape, operand.dtype), operand.name)
        for operand, same in zip(inputs, fixed, strict=True)
    ]
    for operand, initial in zip(carried, inputs, strict=True):
        operand.quantization = initial.quantization
    check = record(node, condition, carried)
    varying = {x.storage for x, same in zip(carried, fixed, strict=True) if not same}
    iteration = check and record(node, body, carried, varying)
    if check is None or iteration is None or _kinds(iteration.values) != _kinds(carried):
        return None
    if len(check.values) != 1 or check.values[0].dtype != bool or check.values[0].size != 1:
        return None
    for operand in carried:
        node.alias(operand, operand.shape)

    def emit(program: Program) -> None:
        control.loop(program, inputs, carried, check, iteration)

    return emit


def record(
    node: Node,
    subgraph: int,
    inputs: Sequence[Operand],
    consumed: Set[Storage] = frozenset(),
    each: int = 0,
) -> Recording | None:
    """The operators of a subgraph, for inputs of these shapes; not tried again where it failed.

    They may overwrite what is `consumed`. With `each` scalar constants are repeated so often.
    """
    scope = node.scope
    if scope is None or scope.preserve:
        return None
    key = subgraph, each, tuple(_nature(operand) for operand in inputs)
    if key in scope.not_inlined:
        return None
    recording = None
    try:
        spec = scope.callee(subgraph)
        kinds = [spec.tensors[tensor].dtype for tensor in spec.inputs]
        result_kinds = [spec.tensors[tensor].dtype for tensor in spec.outputs]
        fit = kinds == [operand.dtype for operand in inputs]
        fit = fit and all(map(_moves, (*kinds, *result_kinds)))
        if fit and not each and scope.is_delegated(spec, [operand.shape for operand in inputs]):
            fit = False  # a step that runs it costs less than delegates save
        if fit and scope.n_inlined(spec) <= MAX_INLINED:
            planner = Planner(scope, spec, node, each)
            planner.consumed = consumed
            recording = planner.record(
                {
                    tensor: Operand.of(
                        operand, spec.tensors[tensor].name, spec.tensors[tensor].quantization
                    )
                    for tensor, operand in zip(spec.inputs, inputs, strict=True)
                }
            )
    except (NodeError, PlanError):  # said when it is run, if it ever is
        pass
    if recording is None:
        if len(scope.not_inlined) >= MAX_REMEMBERED:
            scope.not_inlined.clear()
        scope.not_inlined.add(key)
    return recording


def _nature(operand: Operand) -> OperandKey:
    """What `prepare` may look at: type, shape, and which constant it is."""
    return operand.dtype.num, operand.shape, None if operand.value is None else operand.storage


def _moves(dtype: np.dtype) -> bool:
    return dtype.kind in "biufc"


def _unchanged(node: Node, body: int) -> list[bool]:
    """Whether the body of a loop gives each of its inputs back as it is."""
    if node.scope is None:
        return []
    try:
        spec = node.scope.callee(body)
    except (AttributeError, NodeError):
        return []
    if len(spec.inputs) != len(spec.outputs):
        return []
    once = len(set(spec.inputs)) == len(spec.inputs)
    return [once and x == y for x, y in zip(spec.inputs, spec.outputs, strict=True)]


def _kinds(operands: Sequence[Operand]) -> list[tuple[tuple[int, ...], np.dtype]]:
    return [(operand.shape, operand.dtype) for operand in operands]
