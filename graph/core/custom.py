"""Operations whose type is a registered custom operator, and their attributes as its options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...schema.custom_ops import custom_op_of, make_custom_op
from .dtype import DType

if TYPE_CHECKING:
    from .protocols import AttrValue, KernelResult, OperationView


def run_custom_op(*arrays: np.ndarray, op: OperationView) -> KernelResult:
    """What the custom operator that is an operation's type gives; a kernel for graphs."""
    return make_custom_op(custom_op_of(op.type), custom_options(op.attrs)).run(*arrays)


def custom_options(attrs: Mapping[str, AttrValue]) -> bytes:
    """The attributes of an operation as a custom operator's options: a FlexBuffer map.

    Arrays become numbers or (nested) lists, types their names; what starts with "_" is left out.

    >>> from flatbuffers import flexbuffers
    >>> flexbuffers.Loads(custom_options({"slope": 0.5, "_class": ["x"]}))
    {'slope': 0.5}
    """
    from flatbuffers import flexbuffers  # pyright: ignore[reportMissingTypeStubs]

    plain = {name: _plain(x) for name, x in sorted(attrs.items()) if not name.startswith("_")}
    return bytes(flexbuffers.Dumps(plain))  # pyright: ignore[reportUnknownMemberType] - no types


def _plain(value: AttrValue) -> AttrValue:
    """A value of Python's own types."""
    value = value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, np.dtype | DType):
        return value.name
    return value.decode() if isinstance(value, bytes) else value
