"""Which function raises which TFLite operator, and how operators are raised that are one of TF's.

    CUMSUM  Cumsum  exclusive=exclusive reverse=reverse

A row has the operator, the TF operation of the same operands, and its attributes: the name of an
option, `:i` for the type of result i, or a number after `#`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from ...graph.core.build import call
from ...schema.registry import Registry

FAMILIES = (
    *("array", "control", "elementwise", "images", "nn", "other", "recurrent", "stablehlo"),
    "state",
)


class Raise(NamedTuple):
    """How an operator is raised.

    Attributes:
        function: function(node, *operands) -> tensor, list of tensors, or operation.
        deferred: positions of the operands that it asks the node for; None is passed
            in their places.
    """

    function: Callable[..., Any]
    deferred: tuple[int, ...] = ()


RAISES: Registry[Raise] = Registry("raise of operator", __package__, FAMILIES)


def raises(*kinds: str, deferred: tuple[int, ...] = ()) -> Callable[[Any], Any]:
    """Registers the decorated function for the operators `kinds`."""

    def register(function):
        for kind in kinds:
            RAISES.add(kind, Raise(function, deferred))
        return function

    return register


def raise_rows(table: str) -> None:
    """Registers the rows of a table."""
    for line in table.strip().splitlines():
        kind, type_, *words = line.split()
        attrs = dict(word.split("=") for word in words)
        RAISES.add(kind, Raise(_one_operation(type_, attrs)))


def _one_operation(type_: str, attrs: dict[str, str]) -> Callable[..., Any]:
    def function(node, *operands):
        values = {name: _value(node, source) for name, source in attrs.items()}
        return call(type_, *operands, **values)

    return function


def _value(node, source: str) -> Any:
    if source.startswith(":"):
        return node.result_dtype(int(source[1:]))
    if source.startswith("#"):
        return int(source[1:])
    value = getattr(node.options, source)
    return value.tolist() if hasattr(value, "tolist") else value
