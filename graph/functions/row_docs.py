"""Docstrings of functions that are one operation each: what they give, take and raise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ...schema.dtypes import tf_name
from ..core.signatures.op_limits import allowed_types, attribute_limit, rank_limits
from ..core.signatures.signatures import signature_of

if TYPE_CHECKING:
    from ..core.signatures.signatures import Argument, Attribute

_WORDS = {"bool": "A truth value.", "float": "A number.", "string": "A string.", "type": "A type."}
"""Kinds of attributes -> what stands for one; of others the kind itself."""


def docstring(kind: str, description: str, theirs: Mapping[str, str]) -> str:
    """What a function gives, what its arguments may be, and the errors it raises.

    Args:
        kind: The op type.
        description: What the function gives.
        theirs: Parameter of the function -> input or attribute of the op.
    """
    signature = signature_of(kind)
    if signature is None or not theirs:
        return f"{description}."
    inputs = {argument.name: argument for argument in signature.inputs}
    names = list(inputs)
    ranks = {names[limit.position]: limit.words for limit in rank_limits(kind)}
    lines: list[str] = []
    for mine, name in theirs.items():
        if name in inputs:
            words = _of_input(kind, inputs[name], ranks.get(name))
        else:
            words = _of_attribute(kind, signature.attrs[name])
        lines.append(f"    {mine}: {words}")
    arguments = "\n".join(lines)
    return (
        f"{description}.\n\nArgs:\n{arguments}\n    name: Of the operation.\n\n"
        "Raises TypeError for other types, ValueError for shapes and numbers that do not fit."
    )


def _of_input(kind: str, argument: Argument, rank: str | None) -> str:
    if isinstance(argument.dtype, str):
        types = allowed_types(kind, argument.dtype)
        words = "any type" if types is None else ", ".join(types)
    else:
        words = tf_name(argument.dtype)
    if argument.count or argument.is_list:
        words = f"a list of {words}"
    return f"{words}{f', of {rank}' if rank else ''}."


def _of_attribute(kind: str, attribute: Attribute) -> str:
    limit = attribute_limit(kind, attribute.name)
    if isinstance(limit, list):
        return f"One of {', '.join(map(repr, limit))}."
    types = allowed_types(kind, attribute.name)
    if attribute.kind == "type" and types is not None:
        return f"One of {', '.join(types)}."
    if attribute.kind == "int":
        return "An integer." if limit is None else f"An integer, at least {limit}."
    return _WORDS.get(attribute.kind, f"A {attribute.kind}.")
