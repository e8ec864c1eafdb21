"""Which of a model's constants are weights, and which of these become variables."""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from ..ir.pseudo import operator

if TYPE_CHECKING:
    from ..ir import graph as ir

ELEMENTWISE = ("ADD", "DIV", "MUL", "SUB")
WEIGHT_OPERANDS = {
    "BATCH_MATMUL": (1,),
    "CONV_3D_TRANSPOSE": (1, 3),
    "EMBEDDING_LOOKUP": (1,),
    "GATHER": (0,),
    "LSTM": range(1, 24),
}
"""Operator -> the operands that are weights, of those whose row does not say it."""
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
    def of(cls, op: ir.Op, i: int, tensor: ir.Tensor) -> Weight | None:
        """Operand `i` of an operator, None where it is no weight."""
        if tensor.value is None or not is_weight(op, i, tensor):
            return None
        return cls(tensor.name, tuple(dict.fromkeys((op.output.name, op.origin))))

    @classmethod
    def all_of(cls, graph: ir.Graph) -> Iterator[Weight]:
        """The weights of a graph, in the order of its operators."""
        for op in graph.ops:
            for i, tensor in enumerate(op.inputs):
                weight = None if tensor is None else cls.of(op, i, tensor)
                if weight is not None:
                    yield weight


def is_weight(op: ir.Op, i: int, tensor: ir.Tensor) -> bool:
    """Whether a constant is what an operator learns: weights, a bias, a table."""
    is_real = tensor.dtype.kind == "f" or tensor.quantization is not None
    if op.kind == "CUSTOM" or tensor.is_variable or not is_real:
        return False
    row = operator(op.kind)
    if op.kind in WEIGHT_OPERANDS:
        return i in WEIGHT_OPERANDS[op.kind]
    if op.kind in ELEMENTWISE:
        return tensor.data.size > 1
    label = row.operands[i].name if i < len(row.operands) else ""
    named = {row.facts.get("weights", ""), *row.facts.get("hybrid", "").split(",")} - {""}
    return label in named or (bool(named) and label.endswith(("bias", "_norm")))


class WeightFilter:
    """Chooses weights.

    Args:
        trainable: True for all, False or None for none; a pattern that is searched in the names of
            weights and layers; or a list of names, each of a weight; or, where none has it, of a
            layer, or what names start with up to a "/".

    Raises TypeError for something else, ValueError for a pattern that is none.
    """

    def __init__(self, trainable: bool | str | Collection[str] | None) -> None:
        self.trainable = trainable
        self.known: list[Weight] = []
        self._names: set[str] = set()
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

    def learn(self, weights: Iterable[Weight]) -> None:
        """Notes all weights of the model."""
        self.known += weights
        self._names.update(weight.name for weight in self.known)

    def takes(self, weight: Weight) -> bool:
        """Whether a weight becomes a variable."""
        if self.trainable is None or isinstance(self.trainable, bool):
            return bool(self.trainable)
        names = [part for name in (weight.name, *weight.layers) for part in name.split(";")]
        if self._pattern is not None:
            matches = any(self._pattern.search(name) for name in names)
            self._unmatched -= {self._pattern.pattern} if matches else set()
            return matches
        matched = {
            selector
            for selector in self.trainable
            for name in names
            if selector not in self._names
            and (name == selector or name.startswith(f"{selector.removesuffix('/')}/"))
        } | ({weight.name} & set(self.trainable))
        self._unmatched -= matched
        return bool(matched)

    def check(self) -> None:
        """Raises ValueError where something of `trainable` is no weight's or layer's name."""
        if not self._unmatched:
            return
        known = list(dict.fromkeys(name for w in self.known for name in (w.name, *w.layers)))
        selector = sorted(self._unmatched)[0]
        similar = difflib.get_close_matches(selector, known, MAX_LISTED, 0.3) or known[-MAX_LISTED:]
        listed = ", ".join(f"'{name}'" for name in similar) or "none"
        raise ValueError(
            f"to_graph: trainable must name weights or layers of the model, got {selector!r}, "
            f"which none has; names of some are {listed}"
        )
