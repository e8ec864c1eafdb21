"""Comparators of sorts, and the keys they order by.

    LT(g(a), g(b))                                            sorts by g(x)
    OR(LT(g(a), g(b)), AND(EQ(g(a), g(b)), LT(h(a), h(b))))   by g(x), equal ones by h(x)

Where a subgraph has this form, its keys are computed once of every element, and elements are sorted
by numbers: n log n steps, where a network of exchanges (regions.py) asks it n log^2 n times.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import scope_of
from ..ops.stablehlo.elementwise import is_total_order, ranks
from .regions import works_on_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..spec import OperatorSpec, SubgraphSpec
    from .node import Node

_EQ, _GT, _LT = 0, 3, 5
"""ComparisonDirection"""
_DIRECTIONS = {"EQUAL": _EQ, "GREATER": _GT, "LESS": _LT}
_ANDS = ("STABLEHLO_AND", "LOGICAL_AND")
_ORS = ("STABLEHLO_OR", "LOGICAL_OR")


class Key(NamedTuple):
    """What elements are sorted by.

    Attributes:
        tensor: of the subgraph, computed from the first of each pair of elements.
        falls: whether larger ones come first.
        is_total: whether floats are compared in IEEE 754's total order.
    """

    tensor: int
    falls: bool
    is_total: bool


class _Comparison(NamedTuple):
    direction: int
    pair: tuple[int, int]
    is_total: bool


class _Comparator:
    """A subgraph while its form is looked for."""

    def __init__(self, spec: SubgraphSpec):
        self._spec = spec
        self._makers = {out: op for op in spec.operators for out in op.outputs}
        self._firsts = dict(zip(spec.inputs[::2], spec.inputs[1::2], strict=True))

    def keys(self, tensor: int) -> list[Key]:
        """The keys that the bool `tensor` compares by; none where it has another form."""
        comparison = self._comparison(tensor)
        if comparison is not None:
            key = self._key(comparison)
            return [] if key is None else [key]
        maker = self._makers.get(tensor)
        if maker is None or maker.kind not in _ORS or len(maker.inputs) != 2:
            return []
        for first, other in (maker.inputs, maker.inputs[::-1]):
            keys = self._keys_in_turn(first, other)
            if keys:
                return keys
        return []

    def _keys_in_turn(self, first: int, other: int) -> list[Key]:
        """OR(first, other): what comes first by one key, or is equal there and comes by others."""
        comparison, both = self._comparison(first), self._makers.get(other)
        key = None if comparison is None else self._key(comparison)
        if comparison is None or key is None or both is None or both.kind not in _ANDS:
            return []
        for left, right in (both.inputs, both.inputs[::-1]):
            equal = self._comparison(left)
            if (
                equal is not None
                and equal.direction == _EQ
                and equal.is_total == key.is_total
                and any(
                    all(map(self._same, equal.pair, pair))
                    for pair in (comparison.pair, comparison.pair[::-1])
                )
            ):
                others = self.keys(right)
                return [key, *others] if others else []
        return []

    def _comparison(self, tensor: int) -> _Comparison | None:
        maker = self._makers.get(tensor)
        if maker is None or len(maker.inputs) != 2:
            return None
        pair = maker.inputs[0], maker.inputs[1]
        if maker.kind in _DIRECTIONS:
            return _Comparison(_DIRECTIONS[maker.kind], pair, is_total=False)
        if maker.kind != "STABLEHLO_COMPARE" or maker.options is None:
            return None
        is_total = is_total_order(maker.options, self._spec.tensors[pair[0]].dtype)
        return _Comparison(int(maker.options.comparison_direction), pair, is_total)

    def _key(self, comparison: _Comparison) -> Key | None:
        direction, (a, b), is_total = comparison
        if direction not in (_LT, _GT):
            return None
        if self._mirrors(a, b):
            return Key(a, direction == _GT, is_total)
        if self._mirrors(b, a):
            return Key(b, direction == _LT, is_total)
        return None

    def _mirrors(self, a: int, b: int) -> bool:
        """Whether `b` is of the second elements what `a` is of the first ones."""
        if a in self._firsts:
            return self._firsts[a] == b
        return self._alike(a, b, self._mirrors)

    def _same(self, a: int, b: int) -> bool:
        """Whether two tensors are one, or computed alike from the same ones."""
        return a == b or self._alike(a, b, self._same)

    def _alike(self, a: int, b: int, compare: Callable[[int, int], bool]) -> bool:
        """Whether two tensors are equal constants, or results of one operator on alike operands."""
        first, second = self._spec.tensors[a], self._spec.tensors[b]
        if first.is_constant or second.is_constant:
            return a == b or (
                first.is_constant
                and second.is_constant
                and first.dtype == second.dtype
                and np.array_equal(first.value, second.value, equal_nan=first.dtype.kind == "f")
            )
        left, right = self._makers.get(a), self._makers.get(b)
        if left is None or right is None or not _do_the_same(left, right):
            return False
        return all(map(compare, left.inputs, right.inputs))


def _do_the_same(left: OperatorSpec, right: OperatorSpec) -> bool:
    return (
        (left.kind, left.version, left.options) == (right.kind, right.version, right.options)
        and len(left.inputs) == len(right.inputs)
        and len(left.outputs) == len(right.outputs) == 1
    )


def keys_of(node: Node, subgraph: int) -> list[Key]:
    """The keys by which a subgraph of pairs of scalars orders; none where it has another form."""
    scope = scope_of(node)
    spec = scope.callee(subgraph)
    is_complex = any(spec.tensors[tensor].dtype.kind == "c" for tensor in spec.inputs)
    if len(spec.outputs) != 1 or len(spec.inputs) % 2 or is_complex:
        return []
    if not works_on_rows(scope, subgraph):
        return []
    return _Comparator(spec).keys(spec.outputs[0])


def order_by_keys(
    node: Node, subgraph: int, keys: Sequence[Key], rows: Sequence[np.ndarray]
) -> np.ndarray | None:
    """The order [n, count] that sorts rows [n, count] by keys, equal elements as they were.

    None where a key is not a number and not compared in the total order: it would have no place.
    """
    elements = [row.ravel() for row in rows for _ in range(2)]
    values = scope_of(node).values(subgraph, [key.tensor for key in keys], elements)
    columns: list[np.ndarray] = []
    for key, value in zip(keys, values, strict=True):
        column = _column(key, value)
        if column is None:
            return None
        columns.append(column.reshape(rows[0].shape))
    if len(columns) == 1:
        return np.argsort(columns[0], axis=1, kind="stable")
    return np.lexsort(columns[::-1], axis=1)


def _column(key: Key, value: np.ndarray) -> np.ndarray | None:
    """Numbers that rise where elements come later; None where there are none."""
    kind = value.dtype.kind
    if kind == "b":
        value = value.view(np.uint8)
    elif kind not in "iu":
        value = value if kind == "f" else value.astype(np.float32)
        if key.is_total:
            value = ranks(value)
        elif np.isnan(value).any():
            return None
    if not key.falls:
        return value
    return np.negative(value) if value.dtype.kind == "f" else np.invert(value)
