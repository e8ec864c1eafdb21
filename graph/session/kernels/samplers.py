"""Candidates drawn from classes, for losses that do not look at all of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine.philox import Words
from ....schema.errors import InvalidArgumentError
from ....schema.files import read_bytes
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State

_WORDS_PER_CANDIDATE = 2048


@dataclass
class Sampler:
    """Classes 0 to n - 1 and how likely each is: what a draw gives, and probabilities."""

    n: int
    draw: Callable[[Words], int]
    probability: Callable[[np.ndarray], np.ndarray]
    weights: np.ndarray = field(default_factory=lambda: np.zeros(0))


def _uniform(n: int) -> Sampler:
    return Sampler(n, lambda words: words.below(n, 64), lambda c: np.full(c.shape, 1.0 / n))


def _log_uniform(n: int) -> Sampler:
    """Class c with a probability of log((c + 2) / (c + 1)) / log(n + 1)."""
    log_range = float(np.log1p(n))

    def draw(words: Words) -> int:
        return (int(math.exp(words.double() * log_range)) - 1) % n

    return Sampler(n, draw, lambda c: np.log((c + 2.0) / (c + 1.0)) / log_range)


def _learned(n: int) -> Sampler:
    """As often as each class was seen, all of them once before the first run."""
    weights = np.ones(n, np.int64)

    def draw(words: Words) -> int:
        at = words.below(int(weights.sum()), 32)
        return int(np.searchsorted(np.cumsum(weights), at, "right"))

    def probability(c: np.ndarray) -> np.ndarray:
        return weights[c].astype(np.float32) / np.float32(weights.sum())

    return Sampler(n, draw, probability, weights)


def _fixed(op: Operation, n: int) -> Sampler:
    """By weights that are given, to the power of `distortion`; by Walker's alias method."""
    weights = _weights(op)
    if len(weights) != n:
        raise InvalidArgumentError(
            None, op, f"range is {n} must be equal to weights size  {len(weights)}"
        )
    share = weights.astype(np.float64) * n / float(np.sum(weights, dtype=np.float64))
    other = np.arange(n)
    low, high = (np.flatnonzero(is_in).tolist() for is_in in (share < 1.0, share >= 1.0))
    while high and low:
        small, large = low.pop(), high.pop()
        other[small] = large
        share[large] -= 1.0 - share[small]
        (low if share[large] < 1.0 else high).append(large)
    share[low + high] = 1.0
    limits = share.astype(np.float32)
    total = np.float32(0)
    for weight in weights:
        total += weight

    def draw(words: Words) -> int:
        r = words.single()
        c = words.below(n, 32)
        return c if r < limits[c] else int(other[c])

    return Sampler(n, draw, lambda c: weights[c] / total)


def _weights(op: Operation) -> np.ndarray:
    """The weights of the classes of this shard, after those that are reserved."""
    unigrams = list(cast("Sequence[float]", op.get_attr("unigrams")))
    file = cast("bytes", op.get_attr("vocab_file")).decode()
    if not unigrams and not file:
        raise InvalidArgumentError(None, op, "Must provide either vocab_file or unigrams.")
    if unigrams and file:
        raise InvalidArgumentError(None, op, "Must only provide one of vocab_file and unigrams.")
    if file:
        unigrams = [
            _last_field(op, line) for line in read_bytes(file).decode().splitlines() if line
        ]
    reserved, n_shards, shard = (
        cast("int", op.get_attr(key)) for key in ("num_reserved_ids", "num_shards", "shard")
    )
    power = np.float32(cast("float", op.get_attr("distortion")))
    n_reserved = sum(i % n_shards == shard for i in range(reserved))
    mine = [weight for i, weight in enumerate(unigrams, n_reserved) if i % n_shards == shard]
    return np.concatenate(
        [np.zeros(n_reserved, np.float32), np.power(np.array(mine, np.float32), power)]
    )


def _last_field(op: Operation, line: str) -> float:
    try:
        return float(line.rsplit(",", 1)[-1])
    except ValueError:
        message = f"Wrong vocabulary format at line: {line}"
        raise InvalidArgumentError(None, op, message) from None


def _counts(p: np.ndarray, n: int, tries: int) -> np.ndarray:
    """How often classes are expected among the candidates."""
    shares = p.astype(np.float32)
    if tries == n:
        return shares * np.float32(n)
    return -np.expm1(tries * np.log1p(-shares.astype(np.float64))).astype(np.float32)


def _require_below(classes: np.ndarray, n: int) -> None:
    """Raises ValueError for a class that is not in [0, n)."""
    wrong = classes[(classes < 0) | (classes >= n)]
    if wrong.size:
        raise ValueError(f"`true_candidate` out of range [0, {n}), received {wrong.flat[0]}")


def _sampled(
    op: Operation, state: State, true_classes: np.ndarray, sampler: Sampler
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    n_true, n = (cast("int", op.get_attr(key)) for key in ("num_true", "num_sampled"))
    is_unique = bool(op.get_attr("unique"))
    if true_classes.ndim != 2:
        raise ValueError("true_classes must be a matrix")
    if true_classes.shape[1] != n_true:
        raise ValueError(
            f"true_classes must have num_true columns, expected: {true_classes.shape[1]} was: "
            f"{n_true}"
        )
    if is_unique and n > sampler.n:
        raise ValueError("Sampler's range is too small.")
    _require_below(true_classes, sampler.n)
    stream = state.stream(op)
    words = Words(stream)
    chosen: list[int] = []
    seen: set[int] = set()
    tries = 0
    while len(chosen) < n:
        tries += 1
        c = sampler.draw(words)
        if not is_unique or c not in seen:
            seen.add(c)
            chosen.append(c)
    stream.skip(_WORDS_PER_CANDIDATE * n // 4)
    candidates = np.array(chosen, np.int64)
    true_counts, counts = (
        _counts(sampler.probability(c), n, tries) for c in (true_classes, candidates)
    )
    return candidates, true_counts, counts


def _range(op: Operation) -> int:
    n = cast("int", op.get_attr("range_max"))
    if n <= 0:
        raise ValueError("range_max must be positive")
    return n


def _row(kind: str, make: Callable[[int], Sampler]) -> None:
    @hosted(kind)
    def kernel(
        op: Operation, state: State, true_classes: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return _sampled(op, state, true_classes, make(_range(op)))


_row("UniformCandidateSampler", _uniform)
_row("LogUniformCandidateSampler", _log_uniform)


@hosted("FixedUnigramCandidateSampler")
def fixed_unigram(
    op: Operation, state: State, true_classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidates by weights that are given."""
    origin = state.origin(op)
    if origin not in state.caches:
        state.caches[origin] = _fixed(op, _range(op))
    return _sampled(op, state, true_classes, cast("Sampler", state.caches[origin]))


@hosted("LearnedUnigramCandidateSampler")
def learned_unigram(
    op: Operation, state: State, true_classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Candidates by how often classes were true in the runs before."""
    origin = state.origin(op)
    if origin not in state.caches:
        state.caches[origin] = _learned(_range(op))
    sampler = cast("Sampler", state.caches[origin])
    results = _sampled(op, state, true_classes, sampler)
    np.add.at(sampler.weights, true_classes.ravel(), 1)
    return results


@hosted("AllCandidateSampler")
def all_candidates(
    op: Operation, state: State, true_classes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every class, once."""
    n = cast("int", op.get_attr("num_sampled"))
    _require_below(true_classes, n)
    ones = np.ones(true_classes.shape, np.float32)
    return np.arange(n), ones, np.ones(n, np.float32)
