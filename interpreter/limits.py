"""Limits that a caller sets on what a model may ask for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from math import prod
from typing import TYPE_CHECKING

from ..schema.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..schema.flatbuffer import Record


@dataclass(frozen=True)
class Limits:
    """What a model may ask for at most; None for what every model may.

    Attributes:
        memory: bytes of all tensors of one program together (3/4 of the memory left, at most
            64 GiB).
        elements: elements of one tensor (2^31 - 1).
        tensors: of all subgraphs together (1,000,000).
        operators: of all subgraphs together (1,000,000).
        subgraphs: of the file (10,000).
        file_bytes: of the file.
    """

    memory: int | None = None
    elements: int | None = None
    tensors: int | None = None
    operators: int | None = None
    subgraphs: int | None = None
    file_bytes: int | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
                raise TypeError(f"limits: {field.name} must be a whole number, got {value!r}")
            if value is not None and value < 0:
                raise ValueError(f"limits: {field.name} must not be negative, got {value}")

    def check_file(self, n_bytes: int) -> None:
        """Raises ModelError when a file is too large."""
        _check("bytes", n_bytes, self.file_bytes)

    def check_model(self, model: Record) -> None:
        """Raises ModelError when a model's record has too much of anything."""
        graphs = model.subgraphs
        _check("subgraphs", len(graphs), self.subgraphs)
        _check("tensors", sum(len(g.tensors or ()) for g in graphs), self.tensors)
        _check("operators", sum(len(g.operators or ()) for g in graphs), self.operators)
        for tensor in (t for g in graphs for t in g.tensors or ()):
            self.check_shape(tensor.name or "", () if tensor.shape is None else tensor.shape)

    def check_shape(self, name: str, shape: Iterable[int]) -> None:
        """Raises ModelError when a tensor has too many elements."""
        _check(f"elements in tensor '{name}'", prod(map(int, shape)), self.elements)


def _check(what: str, amount: int, limit: int | None) -> None:
    if limit is not None and amount > limit:
        raise ModelError(f"limits: at most {limit:,} {what} are allowed, the model has {amount:,}")
