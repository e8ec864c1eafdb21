"""Inputs on which a source and its file are compared where nobody gives any."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import count, cycle
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir import dims
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

N_RUNS, N_BATCHES = 4, 2
"""Choices to be compared on; fewer where only the batch is free."""


def trial_inputs(
    oracle: Oracle,
    sizes: Sequence[Sizes | None] = (),
    is_hopeless: Callable[[Shapes], bool] = lambda shapes: False,
) -> Iterator[list[np.ndarray]]:
    """Lists of one seeded random array for each input, in different shapes where some are free.

    Args:
        oracle: the source.
        sizes: what is known of the inputs' dimensions, so that those that must be equal are.
        is_hopeless: whether the source is sure to refuse some shapes; lengths are doubled then.
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
    sizes: Sequence[Sizes], choice: SizeChoice, is_hopeless: Callable[[Shapes], bool]
) -> Shapes | None:
    """The shapes with the lengths of a choice doubled until there is hope; odd ones stay odd."""
    batch, length = choice
    for k in range(1, DOUBLINGS + 1):
        shapes = _shapes(sizes, batch, lambda i, k=k: length(i) << k | length(i) & 1)
        if shapes is None or any(prod(shape) > N_ELEMENTS for shape in shapes):
            return None
        if not is_hopeless(shapes):
            return shapes
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
    shapes = tuple(tuple(dims.evaluate(n, numbers) for n in sizes) for sizes in inputs)
    return None if any(n < 0 for shape in shapes for n in shape) else shapes


def random_array(tensor: Typed, shape: Sequence[int], generator: np.random.Generator) -> np.ndarray:
    """Seeded normals for floats, zeros and ones for integers and booleans."""
    dtype: Any = tensor.dtype
    if prod(shape) > N_ELEMENTS:
        raise NotVerified(
            f"input '{tensor.name}' has {prod(shape)} elements, too many to try; {ADVICE}"
        )
    if dtype is not None and dtype.kind in "fcV" and dtype.names is None:
        return generator.standard_normal(shape).astype(dtype)
    if dtype is not None and dtype.kind in "iub":
        return generator.integers(0, 2, shape).astype(dtype)
    raise NotVerified(
        f"input '{tensor.name}' has the type {dtype}, for which there are no random values; set "
        "representative_dataset or verify_inputs"
    )


def without_zeros(arrays: Sequence[np.ndarray]) -> list[np.ndarray] | None:
    """The arrays with ones and twos for their integers; None where there are none."""
    if not any(array.dtype.kind in "iu" for array in arrays):
        return None
    return [np.asarray(x + 1, x.dtype) if x.dtype.kind in "iu" else x for x in arrays]
