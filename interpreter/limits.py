"""Whether a model's file is within the limits that a caller has set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..engine.run.limits import over_limit, shape_over_limit
from ..schema.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..engine.run.limits import Limits
    from ..schema.flatbuffer import Record


def check_file(limits: Limits, n_bytes: int) -> None:
    """Raises ModelError when a file is too large."""
    _refuse(over_limit(limits.file_bytes, n_bytes, "bytes"))


def check_model(limits: Limits, model: Record) -> None:
    """Raises ModelError when a model's record has too much of anything."""
    graphs = model.subgraphs
    _refuse(over_limit(limits.subgraphs, len(graphs), "subgraphs"))
    _refuse(over_limit(limits.tensors, sum(len(g.tensors or ()) for g in graphs), "tensors"))
    _refuse(over_limit(limits.operators, sum(len(g.operators or ()) for g in graphs), "operators"))
    for tensor in (t for g in graphs for t in g.tensors or ()):
        check_shape(limits, tensor.name or "", () if tensor.shape is None else tensor.shape)


def check_shape(limits: Limits, name: str, shape: Iterable[int]) -> None:
    """Raises ModelError when a tensor has too many elements."""
    _refuse(shape_over_limit(limits, name, shape))


def _refuse(words: str) -> None:
    if words:
        raise ModelError(words)
