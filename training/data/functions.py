"""Functions of elements: what users give to `map`, `filter` and others, as functions of a graph."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from ...graph.core.build import ops
from ...graph.core.function_graph import VARIABLES, FunctionGraph, define, redefine
from ...graph.core.scopes import control_dependencies, get_default_graph
from ...graph.variables.variables import Variable
from . import structures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...graph.core.graph import Tensor
    from ...graph.core.signatures.attributes import FunctionRef
    from .structures import Structure

UserFunction = Callable[..., object]


class _Body(FunctionGraph):
    """The body of a function of elements: what is no resource is captured by its value."""

    def _captured(self, tensor: Tensor) -> Tensor:
        if tensor.op.type in VARIABLES:
            with self.outer.as_default(), control_dependencies(None):
                tensor = cast("Tensor", ops.Identity(tensor))
        return super()._captured(tensor)


class ElementFunction:
    """A function of elements.

    Args:
        function: What the user gives.
        specs: What is known of the arguments.
        name: Whose argument it is, for messages.
        unpacks: Whether a single argument that is a tuple comes as several.

    Attributes:
        reference: The function of the graph.
        captured: The tensors of the graph around that it reads.
        output_spec: What is known of its results.

    Raises ValueError when it is no function, TypeError where it gives something that has no form in
    a dataset.
    """

    def __init__(
        self,
        function: UserFunction,
        specs: Sequence[Structure],
        name: str,
        unpacks: bool = True,
    ):
        if not callable(function):
            raise ValueError(
                f"Argument `func` must be a callable. Received func={function} (of type "
                f"{type(function)})"
            )
        body = _Body(get_default_graph())
        with body.as_default():
            arguments: list[object] = []
            for spec in specs:
                types, shapes = structures.component_types(spec), structures.component_shapes(spec)
                pairs = zip(types, shapes, strict=True)
                tensors = [body.parameter(dtype, shape, "args") for dtype, shape in pairs]
                leaves = structures.from_components(spec, tensors)
                arguments.append(structures.pack(spec, leaves))
            if unpacks and len(arguments) == 1 and type(arguments[0]) is tuple:
                arguments = list(cast("tuple[object, ...]", arguments[0]))
            returned = function(*arguments)
            if isinstance(returned, list):
                returned = tuple(cast("list[object]", returned))
            returned = _read(returned)
            try:
                self.output = structures.normalize(returned)
            except (TypeError, ValueError):
                words = f"Unsupported return value from function passed to {name}: {returned}. "
                raise TypeError(f"{words}Unsupported value type {type(returned)}.") from None
            body.outputs = [body.capture(part) for part in structures.components(self.output)]
        self.body = body
        self.output_spec = structures.spec_of(self.output)
        self.reference: FunctionRef = define(body, name.replace(".", "_").replace("()", ""))
        self.captured: list[Tensor] = list(body.captures)

    def renewed(self) -> FunctionRef:
        """The function after its body's results were changed."""
        redefine(self.reference, self.body)
        self.captured = list(self.body.captures)
        return self.reference


def _read(structure: Structure) -> Structure:
    """Variables as what they hold."""
    leaves = structures.flatten(structure)
    if not any(isinstance(leaf, Variable) for leaf in leaves):
        return structure
    values = [leaf.value() if isinstance(leaf, Variable) else leaf for leaf in leaves]
    return structures.pack(structure, values)
