"""Einsum and determinants as products."""

from __future__ import annotations

from functools import reduce

from ..lowering.node import SourceNode
from .registry import lower

MAX_DETERMINANT = 4
"""Rows of a matrix whose determinant is written out."""


class Equation(SourceNode):
    """An Einsum as its lowering for TensorFlow takes it.

    Attributes:
        equation: with an arrow and at most two terms, in which each letter stands once.
    """

    def __init__(self, node, equation, inputs) -> None:
        super().__init__(node.type, node.name, inputs)
        self.equation = equation

    def text(self, name: str) -> str:
        """The equation, the only attribute there is."""
        return self.equation if name == "equation" else ""


@lower("Einsum")
def einsum(node, b):
    """Sums of products over the letters that are not in the result, two operands at a time."""
    from ..tf.einsum import einsum as of_two
    from ..tf.einsum import without_repeats

    terms, target = _terms(node)
    operands = []
    for term, x in zip(terms, node.inputs, strict=True):
        tensor, letters = without_repeats(node, b, term, x)
        operands.append((letters, tensor))
    while len(operands) > 2:
        (first, x), (second, y), *further = operands
        others = target + "".join(term for term, _ in further)
        product_letters = [c for c in dict.fromkeys(first + second) if c in others]
        product = "".join(product_letters)
        step = Equation(node, f"{first},{second}->{product}", [x, y])
        operands = [(product, of_two(step, b)), *further]
    left = ",".join(term for term, _ in operands)
    if len(operands) == 1 and left == target:
        return operands[0][1]
    return of_two(Equation(node, f"{left}->{target}", [x for _, x in operands]), b)


def _terms(node):
    """(letters of each operand, letters of the result), capitals in the place of dots."""
    equation = node.attr("equation").replace(" ", "")
    left, arrow, target = equation.partition("->")
    terms = left.split(",")
    node.require(
        len(terms) == len(node.inputs),
        f"the equation '{equation}' must have a term for each of {len(node.inputs)} inputs",
    )
    unused = [c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation]
    longest = 0
    for i, term in enumerate(terms):
        if "..." in term:
            n = node.rank(i) - len(term) + 3
            node.require(0 <= n < len(unused), f"'{term}' does not fit rank {node.rank(i)}")
            longest = max(longest, n)
            terms[i] = term.replace("...", "".join(unused[:n][::-1]))
        else:
            node.require(
                node.rank(i) == len(term), f"'{term}' does not fit rank {node.rank(i)} of input {i}"
            )
    dots = "".join(unused[:longest][::-1])
    if not arrow:
        letters = "".join(terms)
        target = dots + "".join(
            sorted(c for c in set(letters) - set(dots) if letters.count(c) == 1)
        )
    return terms, target.replace("...", dots)


@lower("Det")
def determinant(node, b):
    """The determinant of each matrix, expanded along its first rows."""
    x, size = node.inputs[0], node.shape()[-1]
    node.require(
        size is not None and 0 < size <= MAX_DETERMINANT and node.shape()[-2] == size,
        f"matrices must be square with 1 to {MAX_DETERMINANT} rows, got {node.shape()[-2:]}",
    )
    rank = x.rank
    rows = [b.UNPACK(row, axis=rank - 2, num=size) for row in b.UNPACK(x, axis=rank - 2, num=size)]
    return _expanded(b, rows)


def _expanded(b, rows):
    if len(rows) == 1:
        return rows[0][0]
    terms = []
    for i, element in enumerate(rows[0]):
        minor = [[*row[:i], *row[i + 1 :]] for row in rows[1:]]
        term = b.MUL(element, _expanded(b, minor))
        terms.append(b.NEG(term) if i % 2 else term)
    return reduce(b.ADD, terms)
