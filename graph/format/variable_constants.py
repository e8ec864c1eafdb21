"""Nodes that read variables, of which constants have taken the place; those of functions, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..core.calls import CALLS
from ..core.signatures import attributes
from .dataflow import FUNCTIONS
from .inline import LOOPS

if TYPE_CHECKING:
    from .messages import FunctionDef, FunctionDefLibrary, NodeDef, Repeated

_CALLS = {
    **{kind: (names, "Tin", 1) for kind, names in FUNCTIONS.items() if kind not in LOOPS},
    **{kind: (FUNCTIONS[kind], "T", 0) for kind in LOOPS},
    **dict.fromkeys(CALLS, (("f",), "Tin", 0)),
}
"""Calls: the attributes with functions and with types of operands, and how many others precede."""
_PASSING = ("Enter", "Identity", "RefEnter", "RefIdentity", "RefSwitch", "Switch")
"""Operations that hand a variable on."""
_RESOURCE = 20


class Value(NamedTuple):
    """What is known of the constant that stands for a variable."""

    dtype: np.dtype
    shape: tuple[int, ...]


def producer(name: str) -> str:
    """The node that an input of another one names."""
    return name.removeprefix("^").partition(":")[0]


def write_constant(node: NodeDef, name: str, value: np.ndarray) -> None:
    """Lets a node be a constant."""
    node.name, node.op = name, "Const"
    node.attr["dtype"].CopyFrom(attributes.write(value.dtype, "type"))
    node.attr["value"].CopyFrom(attributes.write(value, "tensor"))


class Readers:
    """Lets nodes read values where they read handles or references of variables.

    Args:
        library: The functions; those whose arguments become values are added under other names.
    """

    def __init__(self, library: FunctionDefLibrary):
        self._library = library
        self._functions = {function.signature.name: function for function in library.function}

    def rewrite(
        self, nodes: Repeated[NodeDef], known: Mapping[str, Value], output: str = ""
    ) -> None:
        """Rewrites nodes.

        Args:
            nodes: Of a graph or function.
            known: What was a variable.
            output: What follows the name of a node in the name of its result.
        """
        values, listed = dict(known), list(nodes)
        waiting = listed
        while waiting:
            passing = [
                node
                for node in waiting
                if node.op in _PASSING and len(node.input) and producer(node.input[0]) in values
            ]
            for node in passing:
                values[node.name] = values[producer(node.input[0])]
            waiting = [node for node in waiting if node.name not in values] if passing else []
        for node in listed:
            if node.op in _CALLS:
                self._rewrite_call(node, values)
            elif len(node.input) and producer(node.input[0]) in values:
                value = values[producer(node.input[0])]
                if node.op in _READERS:
                    _READERS[node.op](node, value.dtype, nodes, output)
                elif node.op in _PASSING:
                    node.op = node.op.removeprefix("Ref")
                    node.attr["T"].CopyFrom(attributes.write(value.dtype, "type"))

    def _rewrite_call(self, node: NodeDef, values: Mapping[str, Value]) -> None:
        """Rewrites the functions of a call that takes what was a variable's handle."""
        names, types, first = _CALLS[node.op]
        operands = [text for text in node.input if not text.startswith("^")][first:]
        handles = [i for i, each in enumerate(node.attr[types].list.type) if each == _RESOURCE]
        changed = {
            i: values[producer(operands[i])] for i in handles if producer(operands[i]) in values
        }
        if not changed:
            return
        for i, value in changed.items():
            node.attr[types].list.type[i] = attributes.write(value.dtype, "type").type
            shapes = node.attr["output_shapes"].list.shape if types == "T" else ()
            if i < len(shapes):
                shapes[i].CopyFrom(attributes.write(value.shape, "shape").shape)
        for name in names:
            attr = node.attr[name]
            for function in attr.list.func if attr.WhichOneof("value") == "list" else [attr.func]:
                function.name = self._with_values(function.name, changed)

    def _with_values(self, name: str, changed: Mapping[int, Value]) -> str:
        """The name of a function in which arguments are values; it is added."""
        source = self._functions[name]
        function: FunctionDef = self._library.function.add()
        function.CopyFrom(source)
        new, count = f"{name}_frozen", 0
        while new in self._functions:
            count += 1
            new = f"{name}_frozen_{count}"
        function.signature.name = new
        self._functions[new] = function
        known: dict[str, Value] = {}
        for i, value in changed.items():
            argument = function.signature.input_arg[i]
            argument.type = attributes.write(value.dtype, "type").type
            known[argument.name] = value
        for result in function.signature.output_arg:
            if function.ret[result.name] in known:
                dtype = known[function.ret[result.name]].dtype
                result.type = attributes.write(dtype, "type").type
        reads = [node for node in function.node_def if node.op == "ReadVariableOp"]
        self.rewrite(function.node_def, known, ":output:0")
        reads = [node.name for node in reads if node.op == "Identity"]
        names = {f"{name}:value:0": f"{name}:output:0" for name in reads}
        for node in function.node_def:
            for i, text in enumerate(node.input):
                node.input[i] = names.get(text, text)
        for result, text in list(function.ret.items()):
            function.ret[result] = names.get(text, text)
        return new


def _as_identity(node: NodeDef, dtype: np.dtype, nodes: Repeated[NodeDef], output: str) -> None:
    """A read of a variable becomes a copy of the constant."""
    node.op = "Identity"
    node.attr.clear()
    node.attr["T"].CopyFrom(attributes.write(dtype, "type"))


def _as_gather(node: NodeDef, dtype: np.dtype, nodes: Repeated[NodeDef], output: str) -> None:
    """A gather by a handle becomes one of the constant."""
    indices = node.attr["Tindices"].type
    batch_dims = node.attr["batch_dims"].i if "batch_dims" in node.attr else 0
    axis = nodes.add()
    write_constant(axis, f"{node.name}/axis", np.array(batch_dims, np.int32))
    params, rows, *others = node.input
    if any(text.startswith("^") for text in others):  # so that it is in the same branch or loop
        axis.input.extend(others)
    inputs = [params, rows, f"{axis.name}{output}", *others]
    del node.input[:]
    node.input.extend(inputs)
    node.op = "GatherV2"
    node.attr.clear()
    node.attr["Tparams"].CopyFrom(attributes.write(dtype, "type"))
    node.attr["Tindices"].type = indices
    node.attr["Taxis"].CopyFrom(attributes.write(np.dtype(np.int32), "type"))
    node.attr["batch_dims"].i = batch_dims


_READERS: dict[str, Callable[[NodeDef, np.dtype, Repeated[NodeDef], str], None]] = {
    "Identity": _as_identity,
    "ReadVariableOp": _as_identity,
    "RefIdentity": _as_identity,
    "ResourceGather": _as_gather,
}
"""What becomes of nodes that read a variable which is now a constant."""
