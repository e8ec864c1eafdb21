"""Functions of tensors that take ragged tensors, too, and where what they do then is written.

    @with_ragged
    def tile(input, multiples, name=None): ...

calls the function that a module of functions/ragged registers as `tile` where an argument, or an
item of one, is ragged. It has the same parameters.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from typing import TypeVar, cast

from ....schema.registry import Homes, Registry
from ..hooks import hook
from .ragged_tensor import RaggedTensor
from .ragged_value import RaggedTensorValue

FunctionT = TypeVar("FunctionT", bound=Callable[..., object])

HOMES = Homes("""\
along_rows: cumsum softmax
arithmetic: unsorted_segment_max unsorted_segment_mean unsorted_segment_min \
unsorted_segment_prod unsorted_segment_sqrt_n unsorted_segment_sum
comparing: where where_v2
conversion: from_sparse from_tensor to_sparse to_tensor
indexing: get_item
joining: concat split stack
partitions: dynamic_partition
picking: batch_gather gather gather_nd
products: matmul
shapes: expand_dims merge_dims one_hot rank reshape reverse size squeeze tile
""")
"""The module of functions/ragged that has each function."""

FUNCTIONS: Registry[Callable[..., object]] = Registry(
    "function of ragged tensors", __package__, lambda name: _module(name)
)


def _module(name: str) -> str:
    home = HOMES(name)
    return f"..functions.ragged.{home}" if home else ""


@hook("ragged_function")
def ragged_function(name: str) -> Callable[..., object]:
    """The function of ragged tensors of this name."""
    return FUNCTIONS.known(name)


def ragged(name: str) -> Callable[[FunctionT], FunctionT]:
    """Registers the decorated function of ragged tensors."""

    def register(function: FunctionT) -> FunctionT:
        FUNCTIONS.add(name, function)
        return function

    return register


def is_ragged(value: object) -> bool:
    """Whether a value is a ragged tensor, or that of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def has_ragged(*values: object) -> bool:
    """Whether a value, or an item of a list among them, is ragged."""
    return any(
        is_ragged(value)
        or (
            isinstance(value, (list, tuple))
            and any(map(is_ragged, cast("Sequence[object]", value)))
        )
        for value in values
    )


def with_ragged(function: FunctionT) -> FunctionT:
    """A function of tensors that hands ragged ones to what is registered under its name."""
    name = function.__name__

    @functools.wraps(function)
    def wrapped(*args: object, **kwargs: object) -> object:
        if not has_ragged(*args, *kwargs.values()):
            return function(*args, **kwargs)
        bound = inspect.signature(function).bind(*args, **kwargs)
        return ragged_function(name)(**bound.arguments)

    return cast("FunctionT", wrapped)
