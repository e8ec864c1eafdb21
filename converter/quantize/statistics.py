"""Calibrators: how the values that a tensor takes over the samples become one range.

minmax           all of them
moving_average   the mean of each sample's smallest and largest value, later samples weigh more
percentile       all but a share of them at either end
entropy          the range whose 128 steps keep most of the distribution's shape (Migacz 2017)
mse              the range whose steps give the smallest squared error
octav            the threshold of the smallest squared error by Newton's method (Sakr et al. 2022)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ...engine.tiling import HISTOGRAM
from ...interpreter.plan.observation import COUNT, FIRST, HIGH, LOW, WIDTH

Range = tuple[float, float]


class Observer(Protocol):
    """What makes a range of the values of one tensor."""

    def add(self, row: np.ndarray) -> None:
        """Takes what was measured: of one sample, for a histogram of all so far."""
        ...

    def range(self) -> Range:
        """The range of all that was measured."""
        ...


class MinMax:
    """The smallest and the largest value."""

    def __init__(self) -> None:
        self._low, self._high = np.inf, -np.inf

    def add(self, row: np.ndarray) -> None:
        """Takes the smallest and the largest value of one sample."""
        low, high = row[LOW : HIGH + 1].tolist()
        self._low, self._high = min(low, self._low), max(high, self._high)

    def range(self) -> Range:
        """All of it."""
        return self._low, self._high


class MovingAverage:
    """average = momentum * average + (1 - momentum) * that of the sample, from the first one on."""

    def __init__(self, momentum: float = 0.9) -> None:
        if not 0 <= momentum < 1:
            raise ValueError(f"momentum of a moving_average must be in [0, 1), got {momentum}")
        self._momentum = momentum
        self._ends: np.ndarray | None = None

    def add(self, row: np.ndarray) -> None:
        """Takes the smallest and the largest value of one sample."""
        ends = row[LOW : HIGH + 1].astype(np.float64)
        before = ends if self._ends is None else self._ends
        self._ends = self._momentum * before + (1 - self._momentum) * ends

    def range(self) -> Range:
        """The averages."""
        low, high = (0.0, 0.0) if self._ends is None else self._ends.tolist()
        return low, high


class Histogram:
    """How often values lie in each of some intervals of equal width.

    Attributes:
        start: where the first interval begins.
        width: of an interval.
        counts: values in each.
        ends: the smallest and the largest value.
    """

    def __init__(self) -> None:
        self.start, self.width = 0.0, 0.0
        self.counts = np.zeros(0, np.int64)
        self.ends: Range = (np.inf, -np.inf)

    def add(self, row: np.ndarray) -> None:
        """Takes the histogram of all samples so far."""
        low, high, self.start, self.width = row[LOW : WIDTH + 1].tolist()
        self.ends = low, high
        self.counts = row[FIRST : FIRST + int(row[COUNT])].astype(np.int64)

    @property
    def centers(self) -> np.ndarray:
        """The middle of each interval."""
        return self.start + (np.arange(len(self.counts)) + 0.5) * self.width

    def within(self, low: float, high: float) -> Range:
        """A range cut off where values were seen."""
        return max(low, self.ends[0]), min(high, self.ends[1])


class Percentile(Histogram):
    """Leaves out (100 - percentile) / 2 of the values at either end, in percent."""

    def __init__(self, percentile: float = 99.99) -> None:
        super().__init__()
        if not 0 < percentile <= 100:
            raise ValueError(f"percentile must be in (0, 100], got {percentile}")
        self._tail = (100 - percentile) / 200

    def range(self) -> Range:
        """Where the shares are reached."""
        shares = np.cumsum(self.counts) / max(self.counts.sum(), 1)
        first = int(np.searchsorted(shares, self._tail, side="right"))
        last = int(np.searchsorted(shares, 1 - self._tail, side="left"))
        start = self.start + first * self.width
        return self.within(start, self.start + (last + 1) * self.width)


class Entropy(Histogram):
    """The threshold for absolute values with the least Kullback-Leibler divergence.

    The zeros of a RELU are left out, as in TensorRT's tools: every scale has them exactly, and by
    their number alone they would outweigh all that a low threshold cuts off.
    """

    LEVELS = 128  # on either side of zero

    def range(self) -> Range:
        """Both ends, cut off at the threshold."""
        sizes = np.abs(self.centers)
        largest = float(max(sizes.max(initial=0.0), 1e-12))
        n = HISTOGRAM
        bins = np.minimum((sizes / largest * n).astype(int), n - 1)
        counts = np.bincount(bins, weights=self.counts, minlength=n)
        counts[0] = min(counts[0], counts[1])
        n_levels = self.LEVELS * (1 if self.ends[0] < 0 else 2)
        candidates = range(n_levels, n + 1, 16)
        divergences = [self._divergence(counts, m, n_levels) for m in candidates]
        threshold = largest * candidates[int(np.argmin(divergences))] / n
        return self.within(-threshold, threshold)

    def _divergence(self, counts: np.ndarray, m: int, n_levels: int) -> float:
        """That of the first m intervals in some levels from all of them, cut off there."""
        expected = counts[:m].copy()
        expected[-1] += counts[m:].sum()
        levels = np.arange(m) * n_levels // m
        present = counts[:m] > 0
        sums = np.bincount(levels, weights=counts[:m], minlength=n_levels)
        n_present = np.bincount(levels, weights=present, minlength=n_levels)
        means = np.divide(sums, n_present, out=np.zeros_like(sums), where=n_present > 0)
        actual = np.where(present, means[levels], 0.0)
        p, q = expected / max(expected.sum(), 1), actual / max(actual.sum(), 1)
        p, q = (array + 1e-9 for array in (p, q))
        return float(np.sum(p * np.log(p / q)))


class MeanSquare(Histogram):
    """Shrinks both ends, then each alone, as long as the error of rounding and cutting falls."""

    def __init__(self, levels: int = 256) -> None:
        super().__init__()
        if levels < 2:
            raise ValueError(f"levels of mse must be at least 2, got {levels}")
        self._levels = levels

    def range(self) -> Range:
        """The best range found."""
        low, high = min(self.ends[0], 0.0), max(self.ends[1], 0.0)
        shrunk = np.linspace(1.0, 0.2, 81)
        _, low, high = min((self._error(low * s, high * s), low * s, high * s) for s in shrunk)
        _, low = min((self._error(low * s, high), low * s) for s in shrunk)
        _, high = min((self._error(low, high * s), high * s) for s in shrunk)
        return float(low), float(high)

    def _error(self, low: float, high: float) -> float:
        """The squared error of all values, quantized from `low` to `high`."""
        step = max(high - low, 1e-12) / (self._levels - 1)
        quantized = np.clip(np.rint(self.centers / step) * step, low, high)
        return float((np.square(quantized - self.centers) * self.counts).sum())


class Octav(Histogram):
    """OCTAV: the threshold s for absolute values with the least squared error of rounding and
    clipping, 4^-bits / 3 s^2 P(|x| <= s) + E[(|x| - s)^2; |x| > s].

    Newton's iteration: s = E[|x|; |x| > s] / (4^-bits / 3 P(0 < |x| <= s) + P(|x| > s)). Without
    negative values steps are half as large, and 3 is 12.
    """

    ITERATIONS = 20

    def __init__(self, bits: int = 8) -> None:
        super().__init__()
        if bits < 2:
            raise ValueError(f"bits of octav must be at least 2, got {bits}")
        self._noise = 4.0**-bits / 3

    def range(self) -> Range:
        """Both ends, cut off at the threshold."""
        sizes, counts = np.abs(self.centers), self.counts
        noise = self._noise / 4 if self.ends[0] >= 0 else self._noise
        n = max(int(counts[sizes > 0].sum()), 1)
        threshold = float((sizes * counts).sum()) / n
        for _ in range(self.ITERATIONS):
            is_clipped = sizes > threshold
            n_clipped = int(counts[is_clipped].sum())
            denominator = noise * (n - n_clipped) + n_clipped
            threshold = float((sizes * counts)[is_clipped].sum()) / max(denominator, 1e-30)
        return self.within(-threshold, threshold)


CALIBRATORS: dict[str, Callable[..., Observer]] = {
    "minmax": MinMax,
    "moving_average": MovingAverage,
    "percentile": Percentile,
    "entropy": Entropy,
    "mse": MeanSquare,
    "octav": Octav,
}
"""Calibrators by name; their parameters are keywords."""


@dataclass(frozen=True)
class Calibrator:
    """A calibrator and its parameters."""

    name: str = "minmax"
    parameters: tuple[tuple[str, float], ...] = ()

    @property
    def takes_histograms(self) -> bool:
        """Whether the spread of values counts, not only their ends."""
        return isinstance(self.observer(), Histogram)

    @property
    def is_cumulative(self) -> bool:
        """Whether what was measured of all samples together is enough to make a range of."""
        return self.takes_histograms or isinstance(self.observer(), MinMax)

    def observer(self) -> Observer:
        """An observer for another tensor."""
        return CALIBRATORS[self.name](**dict(self.parameters))


MINMAX = Calibrator()


def calibrator_of(value: Any) -> Calibrator:
    """A calibrator by its name, or {"name": ..., a parameter: ...}; raises ValueError."""
    if isinstance(value, Calibrator):
        return value
    parameters = dict(value) if isinstance(value, Mapping) else {"name": value}
    name = parameters.pop("name", None)
    if name not in CALIBRATORS:
        raise ValueError(f"a calibrator must be one of {', '.join(CALIBRATORS)}, got {name!r}")
    calibrator = Calibrator(name, tuple(sorted(parameters.items())))
    try:
        calibrator.observer()
    except TypeError:
        words = ", ".join(parameters)
        raise ValueError(f"calibrator {name} has not all of the parameters {words}") from None
    return calibrator
