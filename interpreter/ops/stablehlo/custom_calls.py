"""STABLEHLO_CUSTOM_CALL: what the name of its target says, or a class registered for that name.

StableHLO leaves to each implementation what a target computes. Known here are those that only say
something to a compiler, CHLO's and MHLO's functions, and operations of TensorFlow ("tf.Atan"), as
LiteRT's own tools write them: with the attributes that are bools and strings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, cast

from ....engine.families.layout import copy
from ...checks import required
from ...custom import class_for, prepare_class
from ...registry import op

if TYPE_CHECKING:
    from ....engine.plan.program import Program
    from ....graph.core.protocols import AttrValue
    from ...plan.node import Node, Prepared

_ANNOTATIONS = {
    *("Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape", "annotate_device_placement"),
    "shape_assertion",
}
"""What tells a compiler something of its operands, which are the results."""
_CALL_ATTRIBUTES = ("has_side_effect", "api_version")
"""What is beside an operation's attributes in those of its call."""


@op("STABLEHLO_CUSTOM_CALL")
def custom_call(node: Node) -> Prepared:
    """What the target's name says."""
    target = node.options.call_target_name or ""
    cls = class_for(node, target) if target else None
    if cls is not None:
        return prepare_class(node, cls, _options(node))
    if target in _ANNOTATIONS:
        return _passed_through(node)
    dialect, _, name = target.partition(".")
    if dialect in ("chlo", "mhlo"):
        from ....graph.stablehlo.expansions import FUNCTIONS

        if name in FUNCTIONS:
            return _operation(node, target, FUNCTIONS[name].kind, {})
    if dialect == "tf":
        from ....schema.flexbuffer import read_flexbuffer_map

        attributes = node.options.custom_attributes
        stated = read_flexbuffer_map(b"" if attributes is None else bytes(attributes))
        plain = {k: v.encode() if isinstance(v, str) else v for k, v in stated.items()}
        attrs = {k: v for k, v in plain.items() if k not in _CALL_ATTRIBUTES}
        return _operation(node, target, name, cast("dict[str, AttrValue]", attrs))
    return _unresolved(node, target, "what it computes is known to whoever wrote the call")


def _options(node: Node) -> bytes:
    """What a class is made of: the call's configuration, else its attributes."""
    config, attributes = node.options.backend_config, node.options.custom_attributes
    return str(config).encode() if config else b"" if attributes is None else bytes(attributes)


def _passed_through(node: Node) -> Prepared:
    """Each operand as the result at its place."""
    operands = required(node, len(node.outputs))
    outs = [node.result(x.shape, x.dtype) for x in operands]

    def emit(program: Program) -> None:
        for x, out in zip(operands, outs, strict=True):
            copy(program, x, out)

    return emit


def _operation(node: Node, target: str, kind: str, attributes: dict[str, AttrValue]) -> Prepared:
    """An operation of TensorFlow on the call's operands."""
    from ....graph.core.graph import Graph
    from ....graph.core.registry import row_of
    from ...select_ops import operation_input, prepare_operation, reason_against

    row = row_of(kind)
    reason = reason_against(kind)
    if reason or row is None or row.kernel is None:
        _unresolved(node, target, reason or f"there is no kernel for {kind}")
    graph = Graph()
    inputs = [operation_input(graph, node, i, x) for i, x in enumerate(node.inputs)]
    try:
        operation = graph.add(kind, "call", inputs, attributes)
    except (ValueError, TypeError) as error:
        node.fail(f"'{target}': {error}")
    return prepare_operation(node, operation, "call")


def _unresolved(node: Node, target: str, reason: str) -> NoReturn:
    node.fail(
        f"Encountered unresolved custom op: '{target}' is called; {reason}; in flatlite, register "
        f"a class with @flatlite.lite.custom_op({target!r})"
    )
