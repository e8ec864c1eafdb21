"""Which of a model's constants are weights, and which of these become variables."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection
from typing import TYPE_CHECKING, NamedTuple

from ..ir.pseudo import operator

if TYPE_CHECKING:
    from ..ir import graph as ir
    from .node import Node

ELEMENTWISE = ("ADD", "DIV", "MUL", "SUB")
TABLES = {"EMBEDDING_LOOKUP": 1, "GATHER": 0, "BATCH_MATMUL": 1}
"""Operator -> the operand that is a weight where it is constant."""
MAX_LISTED = 5


class Weight(NamedTuple):
    """A constant that can be trained.

    Attributes:
        name: its own name in the model.
        layers: the names of the operator that reads it: of its result, and in the source.
    """

    name: str
    layers: tuple[str, ...]

    @classmethod
    def of(cls, node: Node, i: int, tensor: ir.Tensor) -> Weight | None:
        """Operand `i` of an operator, None where it is no weight."""
        if tensor.dtype.kind not in "fiuV" or not is_weight(node.op, i, tensor):
            return None
        op = node.op
        return cls(tensor.name, tuple(dict.fromkeys((op.output.name, op.origin))))


def is_weight(op: ir.Op, i: int, tensor: ir.Tensor) -> bool:
    """Whether a constant is what an operator learns: weights, a bias, a table."""
    if op.kind == "CUSTOM" or (tensor.quantization is None and tensor.dtype.kind != "f"):
        return False
    row = operator(op.kind)
    if op.kind in TABLES:
        return TABLES[op.kind] == i
    if op.kind in ELEMENTWISE:
        return tensor.data.size > 1
    label = row.operands[i].name if i < len(row.operands) else ""
    named = {row.facts.get("weights", ""), *row.facts.get("hybrid", "").split(",")} - {""}
    return label in named or (bool(named) and "bias" in label)


def has_weights(op: ir.Op) -> bool:
    """Whether an operator learns something."""
    return any(
        tensor.value is not None and is_weight(op, i, tensor)
        for i, tensor in enumerate(op.inputs)
        if tensor is not None
    )


class WeightFilter:
    """Chooses weights.

    Args:
        trainable: True for all, False or None for none; a pattern that is searched in the names of
            weights and layers; or a list of names, each of a weight, of a layer, or of what they
            start with up to a "/".

    Raises TypeError for something else, ValueError for a pattern that is none.
    """

    def __init__(self, trainable: bool | str | Collection[str] | None) -> None:
        self.trainable = trainable
        self.seen: list[Weight] = []
        self._unmatched: set[str] = set()
        self._pattern: re.Pattern[str] | None = None
        if isinstance(trainable, str):
            try:
                self._pattern = re.compile(trainable)
            except re.error as error:
                raise ValueError(
                    f"to_graph: trainable must be a regular expression, got {trainable!r} "
                    f"({error}); give a list of names to have them as they are"
                ) from None
            self._unmatched = {trainable}
        elif trainable is not None and not isinstance(trainable, bool):
            if not isinstance(trainable, Collection) or not all(
                isinstance(name, str) for name in trainable
            ):
                raise TypeError(
                    "to_graph: trainable must be True, a pattern or a list of names, got "
                    f"{trainable!r}"
                )
            self._unmatched = set(trainable)

    def takes(self, weight: Weight) -> bool:
        """Whether a weight becomes a variable."""
        self.seen.append(weight)
        if self.trainable is None or isinstance(self.trainable, bool):
            return bool(self.trainable)
        names = [part for name in (weight.name, *weight.layers) for part in name.split(";")]
        if self._pattern is not None:
            found = any(self._pattern.search(name) for name in names)
            self._unmatched -= {self._pattern.pattern} if found else set()
            return found
        matched = {
            wanted
            for wanted in self.trainable
            for name in names
            if name == wanted or name.startswith(f"{wanted.removesuffix('/')}/")
        }
        self._unmatched -= matched
        return bool(matched)

    def check(self) -> None:
        """Raises ValueError where something of `trainable` is no weight's or layer's name."""
        if not self._unmatched:
            return
        known = list(dict.fromkeys(name for w in self.seen for name in (w.name, *w.layers)))
        wanted = sorted(self._unmatched)[0]
        similar = difflib.get_close_matches(wanted, known, MAX_LISTED, 0.3) or known[-MAX_LISTED:]
        listed = ", ".join(f"'{name}'" for name in similar) or "none"
        raise ValueError(
            f"to_graph: trainable must name weights or layers of the model, got {wanted!r}, which "
            f"none has; names of some are {listed}"
        )
