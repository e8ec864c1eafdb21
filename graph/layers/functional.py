"""The functions of `tf.layers`: a new layer of a class each, called once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from .base import Layer

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import TensorLike


def functional(layer_class: type[Layer], name: str, doc: str, inputs: str) -> Callable[..., Tensor]:
    """The function `name(inputs, ..., reuse=None)`: a new layer of a class, called once.

    It takes what the class takes, and `reuse` where the class has variables.

    Args:
        layer_class: The class.
        name: Of the function.
        doc: What the function gives.
        inputs: What its docstring says of the inputs.
    """
    constructor_arguments = [
        parameter
        for parameter in inspect.signature(layer_class).parameters.values()
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD
    ]
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    has_variables = any(parameter.name == "trainable" for parameter in constructor_arguments)
    first = inspect.Parameter("inputs", kind)
    last = [inspect.Parameter("reuse", kind, default=None)] if has_variables else []
    signature = inspect.Signature([first, *constructor_arguments, *last])

    def function(*args: object, **kwargs: object) -> Tensor:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        arguments = bound.arguments
        operand = cast("TensorLike", arguments.pop("inputs"))
        if has_variables:
            arguments["_reuse"] = arguments.pop("reuse")
            arguments["_scope"] = arguments["name"]
        return cast("Tensor", layer_class(**arguments)(operand))

    function.__name__ = function.__qualname__ = name
    function.__module__ = getattr(layer_class, "__module__", __name__)
    function.__signature__ = signature  # pyright: ignore[reportFunctionMemberAccess]
    entries = [f"    inputs: {inputs}", *_entries(layer_class, signature)]
    if has_variables:
        entries.append("    reuse: Whether the variables of the scope `name` are taken; see Layer.")
    errors = "Raises ValueError for options and sizes that do not go together."
    function.__doc__ = "\n".join([doc, "", "Args:", *entries, "", errors])
    return function


def _entries(layer_class: type[Layer], signature: inspect.Signature) -> list[str]:
    """What the docstrings of a class and its bases say of these parameters."""
    entries: list[str] = []
    bases = [each for each in layer_class.__mro__ if each not in Layer.__mro__]
    for each in reversed(bases):
        text = inspect.cleandoc(each.__doc__ or "").partition("Args:\n")[2].partition("\n\n")[0]
        for entry in re.split(r"\n(?=    \S[^:]*:)", text):
            names = re.findall(r"\w+", entry.partition(":")[0])
            if any(word in signature.parameters for word in names):
                entries.append(entry)
    return entries
