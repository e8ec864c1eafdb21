"""AdaRound: whether each weight is rounded up or down is learned from the layer's results.

Nagel et al. 2020, Up or Down? Adaptive Rounding for Post-Training Quantization, arXiv 2004.10568.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

ZETA, GAMMA = 1.1, -0.1  # by which the sigmoid is stretched beyond 0 and 1 (section 3.3)
BETA_FIRST, BETA_LAST = 20.0, 2.0  # exponent of the regularization, at its start and its end
WARM_UP = 0.2  # share of the steps before it starts
MOMENTS = (0.9, 0.999)  # of Adam
N_ROWS = 256  # of a step
FLUSH = 100  # steps after which moments that have died away become 0: denormal numbers are slow
SMALLEST_MOMENT = 1e-30
SMALLEST_BASE = 0.02  # whose powers are no denormal numbers either


@dataclass(frozen=True)
class Problem:
    """One layer.

    Attributes:
        weights: [groups, outputs, taps].
        scales: of the grid, [groups, outputs, 1].
        limits: the smallest and the largest integer.
        rows: inputs in the model whose weights before are rounded, [groups, rows, taps].
        expected: results of the float model, the bias taken off, [groups, rows, outputs].
        bias: [groups, 1, outputs].
        has_relu: whether negative results become 0.
    """

    weights: np.ndarray
    scales: np.ndarray
    limits: tuple[int, int]
    rows: np.ndarray
    expected: np.ndarray
    bias: np.ndarray
    has_relu: bool

    def error(self, weights: np.ndarray) -> float:
        """The mean squared error of the results with other weights."""
        return float(np.square(self.difference(weights, self.rows, self.expected)[0]).mean())

    def difference(
        self, weights: np.ndarray, rows: np.ndarray, expected: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray | float]:
        """What results differ by, and 0 where the activation makes them constant."""
        results = rows @ weights.transpose(0, 2, 1)
        if not self.has_relu:
            return results - expected, 1.0
        results, expected = results + self.bias, expected + self.bias
        return np.maximum(results, 0) - np.maximum(expected, 0), results > 0


def adaround(
    problem: Problem,
    steps: int = 1000,
    rate: float = 0.03,
    regularization: float = 10.0,
    deadline: float = np.inf,
    seed: int = 0,
) -> np.ndarray:
    """Weights on their grid, each rounded up or down.

    Minimizes |f(X W~) - f(X W)|^2 + regularization * sum(1 - |2 h(V) - 1|^beta) over V by Adam,
    where W~ = s clip(floor(W / s) + h(V)) and h is a stretched sigmoid, cut off at 0 and 1.

    Args:
        problem: the layer.
        steps: of Adam.
        rate: how large they are.
        regularization: how much the second term counts beside the error of rounding to nearest.
        deadline: the time (of time.monotonic) at which it is over; what was learned until then
            counts.
        seed: of the choice of rows.

    Returns:
        The rounded weights; those rounded to nearest where these are no worse on all rows.
    """
    scaled = problem.weights / problem.scales
    floor = np.floor(scaled)
    nearest = np.clip(np.rint(scaled), *problem.limits) * problem.scales
    share = np.clip((scaled - floor - GAMMA) / (ZETA - GAMMA), 1e-4, 1 - 1e-4)
    logits = np.log(share / (1 - share)).astype(np.float32)
    moments = np.zeros((2, *logits.shape), np.float32)
    baseline = max(problem.error(nearest), 1e-20)
    generator = np.random.default_rng(seed)
    n_rows = problem.rows.shape[1]
    for step in range(steps):
        if time.monotonic() > deadline:
            break
        chosen = generator.integers(0, n_rows, min(N_ROWS, n_rows))
        progress = (step / steps - WARM_UP) / (1 - WARM_UP)
        softened = soft(logits)
        gradient = gradient_of(problem, floor, softened, chosen, baseline)
        if progress > 0:
            gradient += regularization * slope(softened, progress)
        adam(logits, moments, gradient, rate, step)
    rounded = np.clip(floor + (logits > 0), *problem.limits) * problem.scales
    return rounded if problem.error(rounded) < baseline else nearest


def soft(logits: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """h(V), and its derivative."""
    sigmoid = 1 / (1 + np.exp(-logits))
    stretched = sigmoid * (ZETA - GAMMA) + GAMMA
    is_inside = (stretched > 0) & (stretched < 1)
    derivative = sigmoid * (1 - sigmoid) * (ZETA - GAMMA) * is_inside
    return np.clip(stretched, 0, 1), derivative


def gradient_of(
    problem: Problem,
    floor: np.ndarray,
    softened: tuple[np.ndarray, np.ndarray],
    chosen: np.ndarray,
    baseline: float,
) -> np.ndarray:
    """The derivative of the squared error on some rows, over that of rounding to nearest.

    `softened` is what `soft` gives of V.
    """
    h, derivative = softened
    integers = floor + h
    low, high = problem.limits
    weights = (np.clip(integers, low, high) * problem.scales).astype(np.float32)
    rows, expected = problem.rows[:, chosen], problem.expected[:, chosen]
    difference, mask = problem.difference(weights, rows, expected)
    product = (difference * mask).transpose(0, 2, 1) @ rows
    is_inside = (integers > low) & (integers < high)
    mean = 2 * product / difference.size / baseline
    return mean * problem.scales * derivative * is_inside * h.size


def slope(softened: tuple[np.ndarray, np.ndarray], progress: float) -> np.ndarray:
    """The derivative of sum(1 - |2 h - 1|^beta), beta falling with `progress` from 0 to 1."""
    cosine = 0.5 * (1 + np.cos(progress * np.pi))
    beta = BETA_LAST + (BETA_FIRST - BETA_LAST) * cosine
    h, derivative = softened
    distance = 2 * h - 1
    powers = np.maximum(np.abs(distance), SMALLEST_BASE) ** (beta - 1)
    return -2 * beta * powers * np.sign(distance) * derivative


def adam(
    logits: np.ndarray, moments: np.ndarray, gradient: np.ndarray, rate: float, step: int
) -> None:
    """One step of Adam, in place."""
    first, second = MOMENTS
    if step % FLUSH == 0:
        moments[np.abs(moments) < SMALLEST_MOMENT] = 0
    moments[0] += (1 - first) * (gradient - moments[0])
    moments[1] += (1 - second) * (np.square(gradient) - moments[1])
    mean = moments[0] / (1 - first ** (step + 1))
    variance = moments[1] / (1 - second ** (step + 1))
    logits -= rate * mean / (np.sqrt(variance) + 1e-8)
