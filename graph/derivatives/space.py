"""Derivatives of ops that move elements between space, depth and batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ..core.build import ops, same_attrs
from .registry import gradient

if TYPE_CHECKING:
    from ..core.graph import Operation, Tensor


def _inverse(kind: str, *names: str) -> Callable[[Operation, Tensor], list[Tensor | None]]:
    """The op that undoes another one: it takes the same further inputs and attributes."""
    return lambda op, dy: [
        getattr(ops, kind)(dy, *op.inputs[1:], **same_attrs(op, *names)),
        *[None] * (len(op.inputs) - 1),
    ]


for _kind, _other, *_names in (
    ("BatchToSpace", "SpaceToBatch", "block_size"),
    ("BatchToSpaceND", "SpaceToBatchND"),
    ("DepthToSpace", "SpaceToDepth", "block_size", "data_format"),
):
    gradient(_kind)(_inverse(_other, *_names))
    gradient(_other)(_inverse(_kind, *_names))
