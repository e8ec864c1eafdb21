"""Inputs on which a source and its file are compared where nobody gives any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import count, cycle, permutations, product
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
from ..ir.dim_values import evaluate
from .oracle import NotVerified, Oracle

if TYPE_CHECKING:
    from ..ir.dims import Extent
    from ..sources.source import Typed

SEED = 20
N_ELEMENTS = 1 << 25  # of one input; a source that wants more is not run
OPTIONS = "converter.verify_inputs, --verify-inputs x.npz"
ADVICE = f"give inputs that it takes: {OPTIONS}"

Sizes = Sequence["Extent"]
Shapes = tuple[tuple[int, ...], ...]
SizeChoice = tuple[Callable[[int], int], Callable[[int], int]]
"""Numbers of the i-th unknown batch and of the i-th other unknown size."""

SMALL, LARGE = (5, 7, 11, 13, 17, 19, 23, 29), (67, 61, 59, 53, 47, 43, 41, 37)
SIZE_CHOICES: tuple[SizeChoice, ...] = (
    (lambda i: 1 + i, lambda i: SMALL[i % 8]),
    (lambda i: 2 + i, lambda i: SMALL[-1 - i % 8]),
    (lambda i: 1 + i, lambda i: LARGE[i % 8]),
    (lambda i: 1 + i, lambda i: 2 * SMALL[i % 8]),
    (lambda i: 2 + i, lambda i: 16 * (2 + i)),
    (lambda i: 1 + i, lambda i: 64 * (1 + i)),
    (lambda i: 2, lambda i: 32 * (4 - i % 4)),
    (lambda i: 2, lambda i: 8),
    (lambda i: 4, lambda i: 4),
    (lambda i: 1, lambda i: 64),
    (lambda i: 2, lambda i: 256),
    (lambda i: 1, lambda i: 1),
    (lambda i: 1, lambda i: 12007),
)
"""Unequal primes, unequal multiples of 2 to 64, equal sizes; each kind from the cheapest on. The
last is for sequences alone, of which some models want thousands of steps."""

DOUBLINGS = 7  # of lengths that are too small

RANKS = (2, 1, 3, 4, 0)
"""Those of inputs of which none is known, in turn."""

MAX_RANK = 8  # a list of integers that is longer is no shape and no list of axes

CONVOLVED = {3, 4, 5}
"""Dimensions of images and filters."""

WORDS = (b"", b"a", b"Ab c", b"hello", b"the", b"\xc3\xa9t\xc3\xa9", b"0", b"-12", b"UNK", b"yes")
NUMERALS = (b"0", b"1", b"-12", b"2")

N_RUNS, N_BATCHES = 4, 2
"""Choices to be compared on; fewer where only the batch is free."""


def trial_inputs(
    oracle: Oracle,
    sizes: Sequence[Sizes | None] = (),
    is_hopeless: Callable[[Shapes], bool | None] = lambda shapes: False,
) -> Iterator[list[np.ndarray]]:
    """Lists of one seeded random array for each input, in different shapes where some are free.

    Args:
        oracle: the source.
        sizes: what is known of the inputs' dimensions, so that those that must be equal are.
        is_hopeless: whether the source is sure to refuse some shapes; lengths are doubled then.
            None where it takes too long to know.
    """
    tried = set()
    for (batch, length), rank in zip(SIZE_CHOICES, cycle(RANKS)):
        input_sizes = [_sizes_of(i, t, sizes, rank) for i, t in enumerate(oracle.inputs)]
        shapes = _shapes(input_sizes, batch, length)
        if shapes is not None and is_hopeless(shapes):
            shapes = _larger(input_sizes, (batch, length), is_hopeless) or shapes
        if shapes is not None and tried and any(prod(shape) > N_ELEMENTS for shape in shapes):
            continue
        if shapes is not None and shapes not in tried:
            tried.add(shapes)
            generator = np.random.default_rng(SEED)
            pairs = zip(oracle.inputs, shapes, strict=True)
            yield [random_array(tensor, shape, generator) for tensor, shape in pairs]


def n_runs(oracle: Oracle) -> int:
    """How many of the trial inputs are enough."""
    shapes = [tensor.sizes for tensor in oracle.inputs]
    if any(shape is None or None in shape[1:] for shape in shapes):
        return N_RUNS
    return N_BATCHES if any(None in shape for shape in shapes if shape) else 1


def _sizes_of(i: int, tensor: Typed, sizes: Sequence[Sizes | None], rank: int) -> Sizes:
    """The dimensions of input `i`; symbols of its own where nothing is known of them, symbols of
    all inputs of unknown rank where not even that is.
    """
    if tensor.sizes is None:
        return [dims.symbol(f"_{k}", 1) for k in range(rank)]
    input_sizes = sizes[i] if i < len(sizes) else None
    if input_sizes is not None:
        return input_sizes
    return [dims.symbol(f"_{i}_{k}", 1) if n is None else n for k, n in enumerate(tensor.sizes)]


def _larger(
    sizes: Sequence[Sizes], choice: SizeChoice, is_hopeless: Callable[[Shapes], bool | None]
) -> Shapes | None:
    """The shapes with the lengths of a choice doubled until there is hope; odd ones stay odd."""
    batch, length = choice
    for k in range(1, DOUBLINGS + 1):
        shapes = _shapes(sizes, batch, lambda i, k=k: length(i) << k | length(i) & 1)
        if shapes is None or any(prod(shape) > N_ELEMENTS for shape in shapes):
            return None
        hopeless = is_hopeless(shapes)
        if not hopeless:
            return None if hopeless is None else shapes
    return None


def _shapes(
    inputs: Sequence[Sizes], batch: Callable[[int], int], length: Callable[[int], int]
) -> Shapes | None:
    """The shapes with some numbers for what is unknown; None where one would be negative."""
    numbers: dict[str, int] = {}
    batches, lengths = map(batch, count()), map(length, count())
    for first in (True, False):  # what is a batch anywhere is one everywhere
        for sizes in inputs:
            for size in sizes[:1] if first else sizes[1:]:
                for name in sorted(size.symbols) if isinstance(size, dims.Dim) else ():
                    if name not in numbers:
                        numbers[name] = next(batches if first else lengths)
    shapes = tuple(tuple(evaluate(n, numbers) for n in sizes) for sizes in inputs)
    return None if any(n < 0 for shape in shapes for n in shape) else shapes


def random_array(tensor: Typed, shape: Sequence[int], generator: np.random.Generator) -> np.ndarray:
    """Seeded normals for floats, zeros and ones for integers and booleans, words for texts."""
    dtype: Any = tensor.dtype
    if prod(shape) > N_ELEMENTS:
        raise NotVerified(
            f"input '{tensor.name}' has {prod(shape)} elements, too many to try; {ADVICE}"
        )
    if dtype is not None and dtype.kind in "fcV" and dtype.names is None:
        return generator.standard_normal(shape).astype(dtype)
    if dtype is not None and dtype.kind in "iub":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype is not None and dtype.kind == "O":
        return _texts(WORDS, shape, generator)
    raise NotVerified(
        f"input '{tensor.name}' has the type {dtype}, for which there are no random values; set "
        "representative_dataset or verify_inputs"
    )


def redrawn(arrays: Sequence[np.ndarray]) -> Iterator[list[np.ndarray]]:
    """Others of the same shapes, for sources that refuse what was drawn, the likeliest first.

    Integers become divisors, the first index, distinct axes or places, or what fits the shape of
    another input; floats become scales, texts numbers.
    """
    rules: list[Callable[[np.ndarray], np.ndarray]] = [_nonzero, _zeros, _distinct]
    rules += [partial(_along, axis=axis) for axis in (None, 0, -1)]
    rules += [partial(rule, shape=shape) for shape in _shapes_to_give(arrays) for rule in SHAPED]
    for rule in (*rules, _factors, _numerals):
        others = [rule(x) for x in arrays]
        if any(x is not array for x, array in zip(others, arrays, strict=True)):
            yield others


def magnitudes(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The same without signs, as unsigned integers want them."""
    return [np.abs(x) if x.dtype.kind in "fi" else x for x in arrays]


def _nonzero(x: np.ndarray) -> np.ndarray:
    """Ones and twos, by which integers can be divided."""
    return np.asarray(x + 1, x.dtype) if x.dtype.kind in "iu" else x


def _zeros(x: np.ndarray) -> np.ndarray:
    """Zeros, which index whatever is not empty."""
    return np.zeros_like(x) if x.dtype.kind in "iu" else x


def _distinct(x: np.ndarray) -> np.ndarray:
    """A list of integers that counts down to 0, as axes and permutations do."""
    return np.arange(x.size, dtype=x.dtype)[::-1].copy() if _is_list(x) else x


def _is_list(x: np.ndarray) -> bool:
    return x.dtype.kind in "iu" and x.ndim == 1 and 0 < x.size <= MAX_RANK


def _shapes_to_give(arrays: Sequence[np.ndarray]) -> Iterator[tuple[int, ...]]:
    """The inputs' shapes, their sizes, and the shapes with another size at the end, each once."""
    if not any(map(_is_list, arrays)):
        return
    shapes = dict.fromkeys(x.shape for x in arrays if x.ndim)
    sizes = dict.fromkeys(n for shape in shapes for n in shape)
    changed = ((*shape[:-1], n) for shape in shapes for n in sizes)
    yield from dict.fromkeys((*shapes, *((n,) for n in sizes), *changed, *_enlarged(arrays)))


def _enlarged(arrays: Sequence[np.ndarray]) -> Iterator[tuple[int, ...]]:
    """What transposed convolutions give for some inputs, at the strides and paddings in use.

    Filters end in the channels of the input, those of the result come right before or first.
    """
    lengths = {x.size for x in arrays if _is_list(x)}
    images = [x.shape for x in arrays if x.ndim in lengths & CONVOLVED]
    for image, filters in permutations(images, 2):
        if image[-1] != filters[-1]:
            continue
        rank = len(image) - 2
        for strides in ((3,) * rank, *product((1, 2), repeat=rank)):
            same = np.multiply(strides, image[1:-1])
            for channels, window in ((filters[-2], filters[:-2]), (filters[0], filters[1:-1])):
                valid = same - strides + np.maximum(window, strides)
                for spatial in (same, valid):
                    yield (image[0], *map(int, spatial), channels)


def _along(x: np.ndarray, axis: int | None) -> np.ndarray:
    """Tables of integers that count along an axis, or through all elements."""
    if x.dtype.kind not in "iu" or x.ndim < 2 or not x.size:
        return x
    counts = np.arange(x.size if axis is None else x.shape[axis])
    if axis is None:
        return counts.reshape(x.shape).astype(x.dtype)
    shape = [1] * x.ndim
    shape[axis] = -1
    return np.broadcast_to(counts.reshape(shape), x.shape).astype(x.dtype)


def _shape_like(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Lists of integers become the last sizes of a shape, with twos before them."""
    if not _is_list(x):
        return x
    sizes = (2,) * (x.size - len(shape)) + shape
    return np.array(sizes[len(sizes) - x.size :], x.dtype)


def _reshaped(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Lists of integers become a shape of as many elements."""
    if not _is_list(x):
        return x
    sizes = (1,) * (x.size - len(shape)) + shape
    n_merged = len(sizes) - x.size + 1
    return np.array((prod(sizes[:n_merged]), *sizes[n_merged:]), x.dtype)


def _parts(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Lists of integers add up to the first size of a shape."""
    if not _is_list(x):
        return x
    least, more = divmod(shape[0], x.size)
    return np.array([least + (i < more) for i in range(x.size)], x.dtype)


def _splits(x: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Lists of integers tell where the rows begin that the first size of a shape is parted into."""
    if not _is_list(x) or x.size < 2:
        return x
    return np.array([shape[0] * i // (x.size - 1) for i in range(x.size)], x.dtype)


SHAPED = (_shape_like, _reshaped, _parts, _splits)


def _factors(x: np.ndarray) -> np.ndarray:
    """Short lists of floats enlarge the last two dimensions, as scales do; scalars become 2."""
    if x.dtype.kind != "f" or x.ndim > 1 or not 0 < x.size <= MAX_RANK:
        return x
    factors = np.array([1 + (i >= x.size - 2) for i in range(x.size)], x.dtype)
    return factors.reshape(x.shape)


def _numerals(x: np.ndarray) -> np.ndarray:
    """Texts of numbers."""
    return _texts(NUMERALS, x.shape, np.random.default_rng(SEED)) if x.dtype.kind == "O" else x


def _texts(
    texts: Sequence[bytes], shape: Sequence[int], generator: np.random.Generator
) -> np.ndarray:
    """An array of some of the texts."""
    array = np.empty(prod(shape), object)
    array[:] = [texts[i] for i in generator.integers(0, len(texts), prod(shape))]
    return array.reshape(shape)
