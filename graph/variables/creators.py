"""Who makes the variables: the creators of open `variable_creator_scope` blocks."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar, cast

from ..core.scopes import get_default_graph

if TYPE_CHECKING:
    from ..core.graph import Graph
    from ..format.messages import VariableDef

Made = TypeVar("Made")


class Created(type):
    """Lets the creators of open `variable_creator_scope` blocks make the variables."""

    def __call__(cls: type[Made], *args: object, **kwargs: object) -> Made:
        """A variable, as the innermost creator makes it."""
        from .variables import Variable

        make = cast("Callable[..., Made]", functools.partial(type.__call__, cls))
        if cls is not Variable:
            return make(*args, **kwargs)
        parameters = inspect.signature(cls.__init__).parameters
        arguments = dict(zip(list(parameters)[1:], args, strict=False)) | kwargs
        definition = cast("VariableDef | None", arguments.pop("variable_def", None))
        if definition is not None:
            if arguments.get("initial_value") is not None:
                raise ValueError("variable_def and initial_value are mutually exclusive.")
            scope = cast("str | None", arguments.get("import_scope"))
            return cast("Made", Variable.from_proto(definition, scope))
        for creator in creators_of(get_default_graph()):
            make = cast("Callable[..., Made]", functools.partial(creator, make))
        return make(**arguments)


def creators_of(graph: Graph) -> list[Callable[..., object]]:
    """The creators of open blocks, the outermost first."""
    return graph.scopes.extras.setdefault("variable creators", [])
