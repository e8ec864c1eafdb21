"""Random numbers that are drawn until one is accepted: gamma, Poisson; and classes by weight."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np

from ....engine.philox import Philox, Words, normal, uniform
from ...ops.stateless_random import stream_of
from ..hosted import hosted

if TYPE_CHECKING:
    from ...core.graph import Operation
    from ..state import State

_PER_NUMBER = 256
"""Counters that each number has for itself."""
_DOUBLE = np.dtype(np.float64)


class _Draws:
    """The uniform and normal numbers for one result: each counter gives two, the last one first."""

    def __init__(self, stream: Philox, index: int):
        self._stream, self._counter = stream, index * _PER_NUMBER
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
    @hosted(kind)
    def kernel(
        op: Operation, state: State, shape: np.ndarray, seed: np.ndarray, parameters: np.ndarray
    ) -> np.ndarray:
        sizes = tuple(shape.tolist())
        if sizes[len(sizes) - parameters.ndim :] != parameters.shape:
            raise ValueError(
                f"Shape passed in must end with broadcasted shape. Got {list(sizes)} and "
                f"{list(parameters.shape)}"
            )
        n = math.prod(sizes[: len(sizes) - parameters.ndim])
        return _drawn(stream_of(seed), n, parameters, draw).reshape(sizes).astype(_dtype_of(op))


_stateful("RandomGamma", _gamma)
_stateful("RandomPoissonV2", _poisson)
_stateless("StatelessRandomGammaV2", _gamma)
_stateless("StatelessRandomPoisson", _poisson)


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
