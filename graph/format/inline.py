"""Calls of functions replaced by the functions' bodies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...schema.errors import ModelError
from ..core.calls import called_function, refuse_expansion
from ..core.graph import Graph, Operation, Tensor
from ..core.library import IMPLEMENTS
from ..core.order import data_and_control_inputs, ordered
from .rebuild import Copy, rebuild

if TYPE_CHECKING:
    from ..core.library import Function
    from ..core.protocols import AttrValue
    from ..core.signatures.attributes import FunctionRef

BRANCHES = ("If", "While", "Case")
LOOPS = ("While", "StatelessWhile")
PYTHON = ("EagerPyFunc", "PyFunc")
MAX_DEPTH = 64


class Replacement(NamedTuple):
    """The operation that a call becomes.

    Attributes:
        type: what the operation is; its results are those of the call.
        attrs: its attributes.
        n_inputs: how many of the call's inputs it has, the first ones.
    """

    type: str
    attrs: Mapping[str, AttrValue]
    n_inputs: int


Replace: TypeAlias = "Callable[[Operation, Function, Sequence[Tensor]], Replacement | None]"
"""Which operation the call of a function with some inputs becomes; None for the body of it."""


def inline(graph: Graph, replacement: Replace | None = None) -> Graph:
    """A copy of `graph` in which every call is replaced by the body of the function.

        x -> StatefulPartitionedCall(f) -> y      becomes      x -> call/a -> call/b -> y

    The operation `b` of a body becomes `call/b`. If, While and Case keep their functions. Of the
    control edges those stay that order operations with state. What runs in a body though nobody
    reads it becomes a control output.

    Args:
        graph: is left as it is.
        replacement: tells which calls become an operation.

    Raises:
        ModelError: a function is missing, calls itself, or the graph becomes too large.
    """
    refuse_expansion(graph.operations)

    def replace(op: Operation, copy: Copy) -> bool:
        reference = called_function(op)
        if reference is not None:
            _inline_call(op, reference, copy, copy, (), replacement)
        return reference is not None

    return rebuild(graph, None, replace)


class _Call(NamedTuple):
    """A call that is being inlined.

    Attributes:
        function: the name of the function.
        prefix: what the names of its operations get before theirs.
        implements: what the function says it implements.
    """

    function: str
    prefix: str
    implements: str


def _inline_call(
    op: Operation,
    reference: FunctionRef,
    outer: Copy,
    top: Copy,
    path: tuple[_Call, ...],
    replacement: Replace | None,
) -> None:
    """Puts the body of `reference` in the place of `op`, a call within the calls of `path`."""
    prefix = f"{path[-1].prefix}/{op.name}" if path else op.name
    function = op.graph.functions.get(reference.name)
    if replacement is not None and function is not None:
        inputs = [outer.tensors[tensor] for tensor in op.inputs]
        new = replacement(op, function, inputs)
        if new is not None:
            _replace_call(op, new, prefix, outer, top)
            return
    body = _body(op, reference, prefix, path)
    inner = Copy(top.graph)
    before = outer.control_inputs(op)
    arguments = [outer.tensors[tensor] for tensor in op.inputs]
    parameters = body.inputs or []
    if len(arguments) != len(parameters):
        raise ModelError(
            f"{op.type} '{prefix}': function '{reference.name}' takes {len(parameters)} inputs, "
            f"got {len(arguments)}"
        )
    for parameter, tensor in zip(parameters, arguments, strict=True):
        inner.maps_to(parameter.op, [tensor], [])
    order = [o for o in ordered(body.operations, data_and_control_inputs) if o.type != "_Arg"]
    call = _Call(reference.name, prefix, op.graph.functions[reference.name].implements)
    for inner_op in order:
        _add_inner(inner_op, inner, top, before, (*path, call), replacement)
    for inner_op in order:
        inner.close_loops(inner_op)
    results = [inner.tensors[tensor] for tensor in body.outputs or ()]
    ends = [new for end in body.control_outputs for new in inner.controls[end]]
    outer.maps_to(op, results, dict.fromkeys([*(t.op for t in results), *ends]))


def _replace_call(op: Operation, new: Replacement, name: str, outer: Copy, top: Copy) -> None:
    """Puts an operation in the place of a call."""
    inputs = [outer.tensors[tensor] for tensor in op.inputs[: new.n_inputs]]
    name = top.graph.unique_name(name) if name in top.graph else name
    controls = outer.control_inputs(op)
    operation = top.graph.add(
        new.type, name, inputs, new.attrs, controls, op.device, len(op.outputs)
    )
    outer.maps_to(op, operation.outputs, [operation])


def _add_inner(
    op: Operation,
    inner: Copy,
    top: Copy,
    before: list[Operation],
    path: tuple[_Call, ...],
    replacement: Replace | None,
) -> None:
    """Puts one operation of a body into the graph."""
    reference = called_function(op)
    if reference is not None:
        _inline_call(op, reference, inner, top, path, replacement)
        return
    name = f"{path[-1].prefix}/{op.name}"
    if name in top.graph:
        name = top.graph.unique_name(name)
    controls = inner.control_inputs(op)
    if op.signature is None or op.signature.is_stateful:
        controls = list(dict.fromkeys([*controls, *before]))
    new = inner.add(op, name, controls, _attrs(op, path))
    inner.maps_to(op, new.outputs, [new])
    if runs_unread(op):
        top.graph.control_outputs.append(new)


def _attrs(op: Operation, path: tuple[_Call, ...]) -> Mapping[str, AttrValue]:
    """The attributes of an operation of a body; a loop tells what the function implements."""
    if op.type not in LOOPS or not path[-1].implements:
        return op.attrs
    return {**op.attrs, f"_{IMPLEMENTS}": path[-1].implements.encode()}


def _body(op: Operation, reference: FunctionRef, prefix: str, path: tuple[_Call, ...]) -> Graph:
    """The body of the function that `op`, a call within `path`, calls."""
    if len(path) >= MAX_DEPTH:
        raise ModelError(f"{op.type} '{prefix}': calls may be {MAX_DEPTH} deep")
    try:
        return op.graph.functions.body(reference)
    except KeyError as error:
        raise ModelError(f"{op.type} '{prefix}': {error.args[0]}") from None


def runs_unread(op: Operation) -> bool:
    """Whether `op`, in the body of a function, does something though nobody reads a result of it.

    TensorFlow runs every stateful operation of a body. Assertions are left out, and so are those
    that only make values, such as random ones.
    """
    signature = op.signature
    if op.type == "Assert" or (signature is not None and not signature.is_stateful):
        return False
    takes_handle = any(t.dtype is not None and t.dtype.names == ("resource",) for t in op.inputs)
    return takes_handle or not op.outputs or op.type in BRANCHES + PYTHON
