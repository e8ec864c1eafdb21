"""Who makes the variables: the creators of open `variable_creator_scope` blocks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar, cast

from ..core.scopes import get_default_graph

if TYPE_CHECKING:
    from ..core.graph import Graph
    from ..format.messages import VariableDef


class _FromProto(Protocol):
    """What a class of variables can make of a message."""

    @classmethod
    def from_proto(
        cls: type[VariableT], variable_def: VariableDef, import_scope: str | None
    ) -> VariableT:
        """The variable that it describes."""
        ...


VariableT = TypeVar("VariableT", bound=_FromProto)


class Created(type):
    """Lets the creators of open `variable_creator_scope` blocks make the variables."""

    @property
    def __signature__(cls) -> inspect.Signature:
        """What its `__init__` takes, for those who ask how it is called."""
        _, *parameters = inspect.signature(cls.__init__).parameters.values()
        return inspect.Signature(parameters)

    def __call__(cls: type[VariableT], *args: object, **kwargs: object) -> VariableT:
        """A variable, as the innermost creator makes it."""
        make = cast("Callable[..., VariableT]", functools.partial(type.__call__, cls))
        if isinstance(cls.__base__, Created):  # one of the kinds, not `Variable` itself
            return make(*args, **kwargs)
        parameters = inspect.signature(cls.__init__).parameters
        arguments = dict(zip(list(parameters)[1:], args, strict=False)) | kwargs
        definition = cast("VariableDef | None", arguments.pop("variable_def", None))
        if definition is not None:
            if arguments.get("initial_value") is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            scope = cast("str | None", arguments.get("import_scope"))
            return cls.from_proto(definition, scope)
        creators = creators_of(get_default_graph())
        if creators:  # they are told all arguments, as by TensorFlow
            defaults = {p.name: p.default for p in list(parameters.values())[1:]}
            arguments = defaults | arguments
        for creator in creators:
            make = cast("Callable[..., VariableT]", functools.partial(creator, make))
        return make(**arguments)


def creators_of(graph: Graph) -> list[Callable[..., object]]:
    """The creators of open blocks, the outermost first."""
    return graph.scopes.extras.setdefault("variable creators", [])
