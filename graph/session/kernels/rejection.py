"""Random numbers that are drawn until one is accepted: gamma, Poisson; and classes by weight."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine.philox import Philox, Words, normal, uniform
from ...ops.stateless_random import stream_at, stream_of
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State

_PER_NUMBER = 256
"""Counters that each number has for itself."""
_DOUBLE = np.dtype(np.float64)


class _Draws:
    """The uniform and normal numbers for one result: each counter gives two, the last one first."""

    def __init__(self, stream: Philox, index: int, per_number: int = _PER_NUMBER):
        self._stream, self._counter = stream, index * per_number
        self._left: dict[str, list[float]] = {"uniform": [], "normal": []}

    def _next(self, kind: str, draw: Callable[[Philox, int, np.dtype], np.ndarray]) -> float:
        if not self._left[kind]:
            at = self._stream.advanced(self._counter)
            self._left[kind] = draw(at, 2, _DOUBLE).tolist()
            self._counter += 1
        return self._left[kind].pop()

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return self._next("uniform", uniform)

    def normal(self) -> float:
        """A normal number."""
        return self._next("normal", normal)


def _gamma(draws: _Draws, alpha: float) -> float:
    """Marsaglia and Tsang, A simple method for generating gamma variables, 2000."""
    if alpha == 0:
        return 0.0
    if alpha == 1:
        return -math.log1p(-draws.uniform())
    is_small = alpha < 1
    d = alpha + (2 / 3 if is_small else -1 / 3)
    c = 1 / 3 / math.sqrt(d)
    while True:
        x = draws.normal()
        v = 1 + c * x
        if v <= 0:
            continue
        v = v * v * v
        u = draws.uniform()
        squeezed = u < 1 - 0.0331 * (x * x) * (x * x)
        if squeezed or math.log(u) < 0.5 * x * x + d * (1 - v + math.log(v)):
            result = d * v
            return result * draws.uniform() ** (1 / alpha) if is_small else result


def _poisson(draws: _Draws, rate: float) -> float:
    """By products of uniform numbers below a rate of 10, above it as Hormann, 1993."""
    if not math.isfinite(rate) or rate < 0:
        return math.nan
    if rate < 10:
        least, product, count = math.exp(-rate), 1.0, 0
        while True:
            product *= draws.uniform()
            if product <= least:
                return count
            count += 1
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    factor = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u = draws.uniform() - 0.5
        v = draws.uniform()
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + rate + 0.43) if edge else -1
        if edge >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2):
            return k
        if k < 0 or (edge < 0.013 and v > edge):
            continue
        s = math.log(v * factor / (a / (edge * edge) + b)) if v else -math.inf
        if s <= -rate + k * math.log(rate) - math.lgamma(k + 1):
            return k


def _drawn(
    stream: Philox, n: int, parameters: np.ndarray, draw: Callable[[_Draws, float], float]
) -> np.ndarray:
    """[n, parameters]: n draws for each parameter."""
    flat = parameters.astype(np.float64).ravel().tolist()
    result = np.empty((n, len(flat)))
    for i, parameter in enumerate(flat):
        for j in range(n):
            result[j, i] = draw(_Draws(stream, i * n + j), parameter)
    return result


def _stateful(kind: str, draw: Callable[[_Draws, float], float]) -> None:
    @hosted(kind)
    def kernel(
        op: Operation, state: State, shape: np.ndarray, parameters: np.ndarray
    ) -> np.ndarray:
        sizes = tuple(shape.tolist())
        n = math.prod(sizes)
        stream = state.stream(op)
        result = _drawn(stream, n, parameters, draw)
        stream.skip(n * parameters.size * _PER_NUMBER)
        return result.reshape(sizes + parameters.shape).astype(_dtype_of(op))


def _dtype_of(op: Operation) -> np.dtype:
    return cast("np.dtype", op.outputs[0].dtype.dtype)


def _stateless(kind: str, draw: Callable[[_Draws, float], float]) -> None:
    """Numbers of a seed, or of a key and a counter with their algorithm."""

    @hosted(kind)
    def kernel(op: Operation, state: State, shape: np.ndarray, *others: np.ndarray) -> np.ndarray:
        *place, parameters = others
        stream = stream_of(*place) if len(place) == 1 else stream_at(*place)
        sizes = tuple(shape.tolist())
        if sizes[len(sizes) - parameters.ndim :] != parameters.shape:
            raise ValueError(
                f"Shape passed in must end with broadcasted shape. Got {list(sizes)} and "
                f"{list(parameters.shape)}"
            )
        n = math.prod(sizes[: len(sizes) - parameters.ndim])
        return _drawn(stream, n, parameters, draw).reshape(sizes).astype(_dtype_of(op))


_stateful("RandomGamma", _gamma)
_stateful("RandomPoissonV2", _poisson)
_stateless("StatelessRandomGammaV2", _gamma)
_stateless("StatelessRandomGammaV3", _gamma)
_stateless("StatelessRandomPoisson", _poisson)


_PER_INVERSION = 42
"""Counters of a binomial number that is a count of geometric ones."""


def _by_inversion(draws: _Draws, count: float, prob: float) -> float:
    """How many geometric numbers add up to `count`, where their mean is below 10."""
    total, n = 0.0, 0
    while True:
        u = draws.uniform()
        total += math.ceil(math.log(u) / math.log1p(-prob)) if u else math.inf
        if total > count:
            return n
        n += 1


_TAILS = (
    *(0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509),
    *(0.0166446911898211, 0.0138761288230707, 0.0118967099458917, 0.0104112652619720),
    *(0.00925546218271273, 0.00833056343336287),
)


def _tail(k: float) -> float:
    """What Stirling's formula lacks of log(k!)."""
    if k <= 9:
        return _TAILS[int(k)]
    square = (k + 1) * (k + 1)
    return (1 / 12 - (1 / 360 - 1 / 1260 / square) / square) / (k + 1)


def _by_rejection(draws: _Draws, count: float, prob: float) -> float:
    """Hormann, The generation of binomial random variates, 1993: BTRS."""
    deviation = math.sqrt(count * prob * (1 - prob))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * prob
    ratio = prob / (1 - prob)
    alpha = (2.83 + 5.1 / b) * deviation
    m = math.floor((count + 1) * prob)
    while True:
        u = draws.uniform() - 0.5
        v = draws.uniform()
        edge = 0.5 - abs(u)
        k = math.floor((2 * a / edge + b) * u + count * prob + 0.5) if edge else -1
        if edge >= 0.07 and v <= 0.92 - 4.2 / b:
            return k
        if k < 0 or k > count:
            continue
        s = math.log(v * alpha / (a / (edge * edge) + b)) if v else -math.inf
        if s <= (
            (m + 0.5) * math.log((m + 1) / (ratio * (count - m + 1)))
            + (count + 1) * math.log((count - m + 1) / (count - k + 1))
            + (k + 0.5) * math.log(ratio * (count - k + 1) / (k + 1))
            + (_tail(m) + _tail(count - m) - _tail(k) - _tail(count - k))
        ):
            return k


def _binomial(stream: Philox, index: int, count: np.floating, prob: np.floating) -> float:
    """The `index`-th number of successes of `count` trials, each with the probability `prob`."""
    n, kind = float(count), type(prob)
    if n <= 0 or prob <= 0:
        return 0.0
    if prob >= 1:
        return n
    if math.isnan(n) or math.isnan(prob):
        return math.nan
    smaller = prob if prob <= kind(0.5) else kind(1) - prob
    is_many = count * smaller >= 10
    draws = _Draws(stream, index, _PER_NUMBER if is_many else _PER_INVERSION)
    drawn = (_by_rejection if is_many else _by_inversion)(draws, n, float(smaller))
    return drawn if smaller is prob else n - drawn


@hosted("StatelessRandomBinomial")
def stateless_binomial(
    op: Operation,
    state: State,
    shape: np.ndarray,
    seed: np.ndarray,
    counts: np.ndarray,
    probs: np.ndarray,
) -> np.ndarray:
    """Binomial numbers, the same for the same seed."""
    sizes = tuple(shape.tolist())
    try:
        pairs = np.broadcast_arrays(counts, probs)
    except ValueError:
        raise ValueError(
            "counts and probs must have compatible batch dimensions: "
            f"{list(counts.shape)} vs. {list(probs.shape)}"
        ) from None
    ndim = pairs[0].ndim
    if sizes[len(sizes) - ndim :] != pairs[0].shape:
        raise ValueError("Shape passed in must end with broadcasted shape.")
    if np.isinf(counts).any():
        raise ValueError("counts must be finite, got an infinite one")
    n = math.prod(sizes[: len(sizes) - ndim])
    stream, result = stream_of(seed), np.empty((n, pairs[0].size))
    for i, (count, prob) in enumerate(zip(*(values.ravel() for values in pairs), strict=True)):
        result[:, i] = [_binomial(stream, i * n + j, count, prob) for j in range(n)]
    return result.reshape(sizes).astype(_dtype_of(op))


def _classes(stream: Philox, logits: np.ndarray, n: int, dtype: np.dtype) -> np.ndarray:
    """[batch, n]: classes, as likely as the exponentials of their logits."""
    if logits.ndim != 2:
        raise ValueError(f"logits should be a matrix, got shape {list(logits.shape)}")
    if n < 0:
        raise ValueError(f"num_samples should be non-negative, got {n}")
    if logits.shape[1] == 0:
        raise ValueError("num_classes should be positive, got 0")
    words = Words(stream)
    result = np.empty((len(logits), n), dtype)
    for row, scores in zip(result, logits.astype(np.float64), strict=True):
        sound = np.isfinite(scores)
        most = scores[sound].max(initial=-np.inf)
        sums = np.cumsum(np.where(sound, np.exp(scores - most), 0))
        row[:] = [np.searchsorted(sums, words.double() * sums[-1], "right") for _ in range(n)]
    return result


@hosted("Multinomial")
def multinomial(
    op: Operation, state: State, logits: np.ndarray, n_samples: np.ndarray
) -> np.ndarray:
    """Classes drawn by their logits."""
    stream, n = state.stream(op), int(n_samples)
    result = _classes(stream, logits, n, _dtype_of(op))
    stream.skip(len(logits) * -(-n // 4) * 8 * _PER_NUMBER)
    return result


@hosted("StatelessMultinomial")
def stateless_multinomial(
    op: Operation, state: State, logits: np.ndarray, n_samples: np.ndarray, seed: np.ndarray
) -> np.ndarray:
    """Classes drawn by their logits, the same for the same seed."""
    return _classes(stream_of(seed), logits, int(n_samples), _dtype_of(op))
