"""Points of Sobol sequences, which fill a unit cube more evenly than random ones.

Source: P. Bratley and B. L. Fox, "Algorithm 659: Implementing Sobol's quasirandom sequence
generator", ACM Trans. Math. Softw. 14 (1988); the numbers it starts from are those of joe_kuo.txt.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...core.registry import op
from ...core.shapes import Shape, require_rank

if TYPE_CHECKING:
    from ...core.dtype import DType
    from ...core.protocols import OperationView

N_DIGITS = 31
"""Binary digits that a point may have."""


@cache
def _table() -> list[list[int]]:
    """A polynomial and initial numbers for each dimension from the second on."""
    lines = Path(__file__).with_name("joe_kuo.txt").read_text().splitlines()
    return [[*map(int, line.split())] for line in lines if not line.startswith("#")]


def _directions(dimension: int) -> list[int]:
    """The direction numbers of a dimension, digit k as an integer below 2**(k + 1)."""
    if dimension == 0:
        return [1] * N_DIGITS
    polynomial, *numbers = _table()[dimension - 1]
    degree = len(numbers)
    for k in range(degree, N_DIGITS):
        number = numbers[k - degree] ^ numbers[k - degree] << degree
        for i in range(1, degree):
            if polynomial >> degree - i & 1:
                number ^= numbers[k - i] << i
        numbers.append(number)
    return numbers


def _shape(op: OperationView) -> Shape:
    for index in range(3):
        require_rank(op, index, 0)
    dim, num_results, _ = (x.value for x in op.inputs)
    return tuple(None if value is None else int(value) for value in (num_results, dim))


@op("SobolSample", shape=_shape)
def sobol_sample(
    dim: np.ndarray, num_results: np.ndarray, skip: np.ndarray, *, dtype: DType
) -> np.ndarray:
    """[num_results, dim] numbers in (0, 1): point i is that of the Gray code of skip + i + 1."""
    for name, array in (("dim", dim), ("num_results", num_results), ("skip", skip)):
        if array.ndim:
            raise ValueError(f"{name} must be a scalar")
    width, n, start = int(dim), int(num_results), int(skip)
    most, n_dimensions = np.iinfo(np.int32).max, len(_table()) + 1
    rules = [
        (width >= 1, "dim must be at least one"),
        (width <= n_dimensions, f"dim must be at most {n_dimensions}"),
        (n >= 1, "num_results must be at least one"),
        (start >= 0, "skip must be non-negative"),
        (n < most - start, f"num_results+skip must be less than {most}"),
        (n < most // max(width, 1), f"num_results*dim must be less than {most}"),
    ]
    for holds, words in rules:
        if not holds:
            raise ValueError(words)
    indices = np.arange(start + 1, start + n + 1)
    gray = indices ^ indices >> 1
    columns = np.array([_directions(dimension) for dimension in range(width)], np.int64)
    points = np.zeros((n, width), np.int64)
    for k in range(int(indices[-1]).bit_length()):
        digit = columns[:, k] << N_DIGITS - 1 - k
        points ^= np.where(gray[:, None] >> k & 1, digit, 0)
    return np.ldexp(points.astype(np.dtype(dtype)), -N_DIGITS)
