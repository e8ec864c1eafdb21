"""What is measured of tensors while a model runs, against numpy."""

import numpy as np
import pytest
from cases import all_cases, content

from flatlite.engine.plan.buffer import bound, persistent
from flatlite.engine.plan.program import Program
from flatlite.engine.tiling import HISTOGRAM
from flatlite.interpreter.plan.observation import (
    COUNT,
    FIRST,
    HIGH,
    LOW,
    SEEN,
    START,
    WIDTH,
    observe_ranges,
)
from flatlite.lite import Interpreter

MODULES = ("statistics",)
GENERATOR = np.random.default_rng(8)
NORMAL = GENERATOR.normal(size=20000).astype(np.float32)
SAMPLES = {
    "one": [np.float32([3.5])],
    "none": [np.zeros(0, np.float32), np.float32([2, 3])],
    "constant": [np.full(100, -2, np.float32)] * 3,
    "normal": [NORMAL, 3 * NORMAL, NORMAL + 5],
    "to the left": [np.float32([1, 2, 3]), np.float32([-500, 1])],
    "to the right": [np.float32([1, 2, 3]), np.float32([4000, 1]), np.float32([1e7])],
    "far": [np.float32([0, 1e-6]), np.float32([-1e6, 1e6])],
    "odd blocks": [NORMAL[:n] for n in (1, 7, 4095, 4096, 4097, 9001)],
}


def measured(kernel, columns, dtype, samples):
    """The row after some samples, each in a program of its own over the same row."""
    row = persistent((columns,), dtype)
    for x in samples:
        program, operand = Program(), bound(x.shape, x.dtype)
        program.call(kernel, operand, row)
        program.close({operand: x})
        program.run()
    return program.array(row)


@pytest.mark.parametrize("name", SAMPLES)
def test_extent(vectors, name):
    row = measured("statistics.extent", 4, np.float32, SAMPLES[name])
    values = [x if x.size else np.zeros(1) for x in SAMPLES[name]]
    ends = min(x.min() for x in values), max(x.max() for x in values)
    assert (row[SEEN], row[LOW], row[HIGH]) == (1, *ends)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("position", [0, 1, 5000, -1])
@pytest.mark.parametrize(("kernel", "columns"), [("extent", 4), ("histogram", 5000)])
def test_what_is_not_finite_is_seen(vectors, kernel, columns, value, position):
    x = NORMAL.copy()
    x[position] = value
    dtype = np.float32 if kernel == "extent" else np.float64
    row = measured(f"statistics.{kernel}", columns, dtype, [NORMAL, x])
    assert not np.isfinite(row[LOW : HIGH + 1]).all()


def test_infinities_of_both_signs_are_no_nan(vectors):
    row = measured("statistics.extent", 4, np.float32, [np.float32([1, np.inf, -np.inf])])
    assert (row[LOW], row[HIGH]) == (-np.inf, np.inf)


@pytest.mark.parametrize("name", SAMPLES)
def test_histogram(vectors, name):
    """Every value is counted within a width of where it lies, in intervals over all of them."""
    columns = FIRST + 2 * HISTOGRAM + 2
    row = measured("statistics.histogram", columns, np.float64, SAMPLES[name])
    values = np.sort(np.concatenate(SAMPLES[name]).astype(np.float64))
    counts = row[FIRST : FIRST + int(row[COUNT])]
    assert counts.sum() == len(values)
    assert not row[FIRST + int(row[COUNT]) :].any()
    assert HISTOGRAM // 2 <= len(counts) <= 2 * HISTOGRAM + 2
    edges = row[START] + row[WIDTH] * np.arange(len(counts) + 1)
    located = np.repeat((edges[:-1] + edges[1:]) / 2, counts.astype(int))
    assert np.abs(located - values).max() <= row[WIDTH] * 1.0001


def test_ranges_are_observed_from_the_start():
    interpreter = Interpreter(model_content=content(all_cases()[0]))
    interpreter.allocate_tensors()
    with pytest.raises(RuntimeError, match="call it before allocating"):
        observe_ranges(interpreter)
