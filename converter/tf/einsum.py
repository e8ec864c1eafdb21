"""Einsum as transposes, reshapes and one matrix product."""

from __future__ import annotations

import string
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from ..lowering.formulas import is_wide_integer, matmul
from ..lowering.moves import dimension, reshaped, transposed
from .registry import lower

if TYPE_CHECKING:
    from ..ir.graph import Tensor


@dataclass
class Operand:
    """A tensor and a letter for each of its axes."""

    tensor: Tensor
    labels: str

    def in_order(self, labels: str, b):
        """Its tensor with the axes in the order of `labels`."""
        order = [self.labels.index(label) for label in labels]
        return self.tensor if labels == self.labels else transposed(self.tensor, order, b)


@lower("Einsum", "XlaEinsum")
def einsum(node, b):
    """Sums of products over the letters that are not in the result."""
    equation = node.text("equation").replace(" ", "")
    terms, target = expand_ellipsis(node, equation)
    node.require(
        len(set(target)) == len(target),
        f"a letter may not stand twice in the result, got '{equation}'",
    )
    sizes: dict[str, int | None] = {}
    for i, term in enumerate(terms):
        for label, n in zip(term, node.shape(i), strict=True):
            sizes[label] = n if sizes.get(label, 1) == 1 else sizes[label]
    operands = [
        drop_broadcast_axes(Operand(*distinct), sizes, b)
        for distinct in (
            without_repeats(node, b, term, x) for term, x in zip(terms, node.inputs, strict=True)
        )
    ]
    operands = [
        summed(operand, target, operands[1 - i].labels if len(operands) == 2 else "", b)
        for i, operand in enumerate(operands)
    ]
    if len(operands) == 1:
        return operands[0].in_order(target, b)
    left, right = operands
    return contract(node, left, right, target, sizes, b)


def expand_ellipsis(node, equation: str) -> tuple[list[str], str]:
    """The letters of the operands and of the result, an ellipsis as unused capitals."""
    left_side, arrow, target = equation.partition("->")
    terms = left_side.split(",")
    node.require(
        bool(arrow) and len(terms) == len(node.inputs) <= 2,
        f"only explicit equations of one or two operands are supported, got '{equation}'",
    )
    unused = [c for c in string.ascii_uppercase if c not in equation]
    longest = 0
    for i, term in enumerate(terms):
        if "..." in term:
            covered = node.rank(i) - len(term) + len("...")
            node.require(0 <= covered < len(unused), f"'{term}' does not fit rank {node.rank(i)}")
            longest = max(longest, covered)
            terms[i] = term.replace("...", "".join(unused[:covered][::-1]))
    return terms, target.replace("...", "".join(unused[:longest][::-1]))


def without_repeats(node, b, term, x):
    """(tensor, letters) where each letter stands once: of one that stands twice the diagonal."""
    for letter in dict.fromkeys(term):
        while term.count(letter) > 1:
            i = term.index(letter)
            j = term.index(letter, i + 1)
            size = x.dims[i]
            node.require(size is not None, f"the size of '{letter}' must be known")
            order = [k for k in range(len(term)) if k not in (i, j)] + [i, j]
            x = transposed(x, order, b)
            others = x.dims[:-2]
            node.require(others.count(None) < 2, "the sizes must be known")
            flat = reshaped(x, [*(-1 if n is None else n for n in others), size * size], b)
            positions = np.arange(size, dtype=np.int32) * (size + 1)
            x = b.GATHER(flat, positions, axis=len(others))
            term = "".join(term[k] for k in order[:-1])
    return x, term


def drop_broadcast_axes(operand: Operand, sizes: dict, b) -> Operand:
    """The operand without the axes of size 1 that the other operand repeats."""
    term = operand.labels
    is_repeated = [
        n == 1 and sizes[label] != 1 for label, n in zip(term, operand.tensor.dims, strict=True)
    ]
    if not any(is_repeated):
        return operand
    labels = "".join(
        label for label, repeated in zip(term, is_repeated, strict=True) if not repeated
    )
    return Operand(grouped(operand.tensor, labels, sizes, [operand], b), labels)


def summed(operand: Operand, target: str, other: str, b) -> Operand:
    """The operand without the letters that neither the result nor the other operand has."""
    reduced_axes = [i for i, label in enumerate(operand.labels) if label not in target + other]
    if not reduced_axes:
        return operand
    labels = "".join(label for i, label in enumerate(operand.labels) if i not in reduced_axes)
    return Operand(b.SUM(operand.tensor, b.constant(np.asarray(reduced_axes, np.int32))), labels)


def contract(node, left: Operand, right: Operand, target: str, sizes: dict, b):
    """A batched matrix product: rows x columns, summed over the shared letters not in `target`."""
    shared = [label for label in left.labels if label in right.labels]
    batch = "".join(label for label in shared if label in target)
    contracted = "".join(label for label in shared if label not in target)
    rows = "".join(label for label in left.labels if label not in shared)
    columns = "".join(label for label in right.labels if label not in shared)

    def merged(tensor, *groups):
        """`tensor` with each group of axes after the batch as one axis."""
        if all(len(group) == 1 for group in groups):
            return tensor
        return grouped(tensor, [*batch, *groups], sizes, [left, right], b)

    x = left.in_order(batch + rows + contracted, b)
    if right.tensor.value is not None and not batch and not is_wide_integer(right.tensor):
        weights = merged(right.in_order(columns + contracted, b), columns, contracted)
        if len(contracted) != 1:
            x = grouped(x, [*rows, contracted], sizes, [left], b)
        y = b.FULLY_CONNECTED(x, weights, keep_num_dims=len(rows) > 1)
        if len(rows) == 0:
            y = reshaped(y, (-1,), b)
    else:
        x = merged(x, rows, contracted)
        y = matmul(
            b, x, merged(right.in_order(batch + contracted + columns, b), contracted, columns)
        )
        if len(rows) == 1 and len(columns) == 1:
            return Operand(y, batch + rows + columns).in_order(target, b)
    if len(rows) != 1 or len(columns) != 1:
        y = grouped(y, batch + rows + columns, sizes, [left, right], b)
    return Operand(y, batch + rows + columns).in_order(target, b)


def group_size(known: Sequence[int | None]) -> int | None:
    """The size of some axes as one; None when one of them is unknown."""
    sizes = [n for n in known if n is not None]
    return prod(sizes) if len(sizes) == len(known) else None


def grouped(tensor, groups: Sequence[str], sizes: dict, operands: list[Operand], b):
    """`tensor` with one axis for each group of letters; no letters are an axis of size 1.

    The first unknown size that is no single letter, or the last one, is left to RESHAPE; others are
    computed from the shapes of `operands`.
    """
    dims = [group_size(known) for known in known_sizes(groups, sizes)]
    unknown = [i for i, n in enumerate(dims) if n is None]
    if len(unknown) < 2:
        return reshaped(tensor, [-1 if n is None else n for n in dims], b)
    inferred = next((i for i in unknown if len(groups[i]) > 1), unknown[-1])
    dims[inferred] = -1
    shape = [
        b.constant(np.int32(n)) if n is not None else size_of(groups[i], sizes, operands, b)
        for i, n in enumerate(dims)
    ]
    return b.RESHAPE(tensor, b.PACK(*shape, axis=0, values_count=len(shape)))


def known_sizes(groups: Sequence[str], sizes: dict) -> list[list[int | None]]:
    """The sizes of the letters of each group."""
    return [[sizes[label] for label in group] for group in groups]


def size_of(group: str, sizes: dict, operands: list[Operand], b):
    """The product of the sizes of some letters, as a number that is known when the model runs."""
    result = None
    for label in group:
        size = b.constant(np.int32(sizes[label])) if sizes[label] is not None else None
        if size is None:
            operand = next(operand for operand in operands if label in operand.labels)
            size = dimension(operand.tensor, operand.labels.index(label), b)
        result = size if result is None else b.MUL(result, size)
    return result
