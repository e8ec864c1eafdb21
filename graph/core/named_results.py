"""What an operation with several results gives: a named tuple, as TensorFlow's functions do."""

from __future__ import annotations

import functools
from collections import namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ParamSpec, cast

from .signatures.signatures import signature_of

if TYPE_CHECKING:
    from .graph import Tensor

P = ParamSpec("P")


@functools.cache
def result_type(kind: str, fields: tuple[str, ...]) -> Callable[..., tuple[Tensor, ...]]:
    """The class of named tuples `kind` with these fields."""
    make = cast("Callable[[str, tuple[str, ...]], Callable[..., tuple[Tensor, ...]]]", namedtuple)
    return make(kind, fields)


def named(kind: str, results: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """`results`, which are named as the outputs of op type `kind` are."""
    signature = signature_of(kind)
    assert signature is not None
    return result_type(kind, tuple(output.name for output in signature.outputs))(*results)


def with_names(
    kind: str,
) -> Callable[[Callable[P, Sequence[Tensor]]], Callable[P, tuple[Tensor, ...]]]:
    """Names what a function gives as the outputs of op type `kind` are named."""

    def decorate(function: Callable[P, Sequence[Tensor]]) -> Callable[P, tuple[Tensor, ...]]:
        @functools.wraps(function)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> tuple[Tensor, ...]:
            return named(kind, function(*args, **kwargs))

        return wrapped

    return decorate
