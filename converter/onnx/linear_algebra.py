"""Einsum, Fourier transforms and determinants, all as matrix products."""

from __future__ import annotations

from functools import reduce

import numpy as np

from ..lowering.moves import dimension, regrouped_from, reshaped, transposed
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

    terms, target = _terms(node)
    operands = []
    for term, x in zip(terms, node.inputs, strict=True):
        operands.append(_without_repeats(node, b, term, x))
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


def _without_repeats(node, b, term, x):
    """(letters, tensor) where each letter stands once: of one that stands twice the diagonal."""
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
    return term, x


def fourier_matrix(n, length, inverse, onesided, is_complex, real_result=False):
    """What a flattened [n, real or complex] is multiplied with: [2 * outputs, inputs].

    Args:
        n: elements that there are; more than `length` are left out, fewer are as if zeros followed.
        length: of the transform.
        inverse: whether the sign is the other one, and the result divided by the length.
        onesided: whether only the first half, and the middle, is given.
        is_complex: whether elements are pairs.
        real_result: whether only real parts are given.
    """
    count = length // 2 + 1 if onesided else length
    n_used = min(n, length)
    angle = 2 * np.pi * np.outer(np.arange(count), np.arange(n_used)) / length
    cos, sin = np.cos(angle), np.sin(angle) if inverse else -np.sin(angle)
    parts = np.zeros((count, 2, n, 2))
    parts[:, 0, :n_used, 0], parts[:, 0, :n_used, 1] = cos, -sin
    parts[:, 1, :n_used, 0], parts[:, 1, :n_used, 1] = sin, cos
    if inverse:
        parts /= length
    parts = parts if is_complex else parts[..., :1]
    parts = parts[:, :1] if real_result else parts
    return parts.reshape(parts.shape[0] * parts.shape[1], -1).astype(np.float32)


@lower("MelWeightMatrix")
def mel_weight_matrix(node, b):
    """The triangles of the mel scale, [bins of a spectrum, bands], from constants."""
    n_bands, length, rate, low, high = (np.ravel(node.constant(i))[0] for i in range(5))
    mels = [2595 * np.log10(1 + edge / 700) for edge in (low, high)]
    edges = mels[0] + np.arange(n_bands + 2) * ((mels[1] - mels[0]) / (n_bands + 2))
    edges = 700 * (10 ** (edges / 2595) - 1)
    left, centre, right = (
        ((length + 1) * edges // rate).astype(int)[i : i + n_bands] for i in range(3)
    )
    bins = np.arange(length // 2 + 1)[:, None]
    rising = (bins - left) / np.maximum(centre - left, 1)
    rising = np.where(centre == left, 1, rising) * ((left <= bins) & (bins <= centre))
    falling = (right - bins) / np.maximum(right - centre, 1)
    matrix = np.where((centre <= bins) & (bins < right), falling, rising)
    dtype = node.dtype("output_datatype") if node.attr("output_datatype", 0) else np.float32
    return b.constant(matrix.astype(dtype))


@lower("DFT")
def dft(node, b):
    """The discrete Fourier transform along an axis; the last axis is real and imaginary part."""
    x, rank = node.inputs[0], node.rank()
    if node.opset >= 20:
        axis = int(node.constant(2)) if node.input(2) is not None else -2
    else:
        axis = node.attr("axis", 1)
    axis, n_parts = node.axis(axis), node.shape()[-1]
    n = node.shape()[axis] or 0
    node.require(n and n_parts in (1, 2), f"sizes must be known, got {node.shape()}")
    length: int = int(node.constant(1).ravel()[0]) if node.input(1) is not None else n
    inverse, onesided = bool(node.attr("inverse", 0)), bool(node.attr("onesided", 0))
    real_result = inverse and onesided
    if real_result:
        length = length if node.input(1) is not None else 2 * (n - 1)
        matrix = _inverse_onesided(n, length)
    else:
        matrix = fourier_matrix(n, length, inverse, onesided, n_parts == 2)
    order = [*(i for i in range(rank - 1) if i != axis), axis, rank - 1]
    last = transposed(x, order, b)
    n_others, parts = rank - 2, 1 if real_result else 2
    flat = regrouped_from(last, n_others, (n * n_parts,), b)
    out = b.FULLY_CONNECTED(flat, b.constant(matrix), None, keep_num_dims=n_others != 1)
    out = regrouped_from(out, n_others, (matrix.shape[0] // parts, parts), b)
    return transposed(out, np.argsort(order).tolist(), b)


def _inverse_onesided(n, length):
    """Real numbers of the first half of their transform: all but the ends count twice."""
    angle = 2 * np.pi * np.outer(np.arange(length), np.arange(n)) / length
    factor = np.full(n, 2.0)
    factor[0] = 1
    if length % 2 == 0 and n == length // 2 + 1:
        factor[-1] = 1
    parts = np.stack([np.cos(angle) * factor, -np.sin(angle) * factor], -1) / length
    return parts.reshape(length, 2 * n).astype(np.float32)


@lower("STFT")
def stft(node, b):
    """The Fourier transforms of frames of a signal, each multiplied with a window."""
    signal, step, window = node.inputs[0], int(node.constant(1)), node.input(2)
    n = node.shape()[1]
    n_parts = node.shape()[2] if node.rank() == 3 else 1
    if node.input(3) is not None:
        length = int(node.constant(3))
    else:
        node.require(window is not None, "a window or frame_length must be given")
        length = window.dims[0]
    onesided = bool(node.attr("onesided", 1))
    offsets = np.arange(length, dtype=np.int32)
    if n is None:
        end = b.SUB(dimension(signal, 1, b), np.int32(length - 1))
        starts = b.EXPAND_DIMS(b.RANGE(np.int32(0), end, np.int32(step)), np.int32(1))
        frames = b.GATHER(signal, b.ADD(starts, offsets), axis=1)
    else:
        starts = np.arange(0, n - length + 1, step, dtype=np.int32)[:, None]
        frames = b.GATHER(signal, starts + offsets, axis=1)
    frames = frames if node.rank() == 3 else b.EXPAND_DIMS(frames, np.int32(3))
    if window is not None:
        frames = b.MUL(frames, reshaped(window, (-1, 1), b))
    matrix = fourier_matrix(length, length, False, onesided and n_parts == 1, n_parts == 2)
    flat = regrouped_from(frames, 2, (length * n_parts,), b)
    out = b.FULLY_CONNECTED(flat, b.constant(matrix), None, keep_num_dims=True)
    return regrouped_from(out, 2, (matrix.shape[0] // 2, 2), b)


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
