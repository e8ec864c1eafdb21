"""The limits of the machine: the kernels that measure them compute, and the numbers make sense."""

import numpy as np
import pytest

from flatlite.engine import machine
from flatlite.engine.build.target import amx
from flatlite.engine.plan.buffer import bound, persistent
from flatlite.engine.plan.program import Program

MODULES = ("peak",)
COUNT = 37
N = 256


def run(kernel, operands, count=COUNT):
    """(operands after `count` turns, how many products there were)"""
    amx()  # or the system ends a process that uses the tile registers
    program, n_items = Program(), len(operands)
    buffers = bound(operands.shape, operands.dtype), persistent((n_items,), np.int64)
    program.call(f"peak.{kernel}", *buffers, split=n_items, count=count)
    program.keep(buffers[1])
    after = operands.copy()
    program.close({buffers[0]: after})
    program.run()
    return after, program.array(buffers[1]).copy()


def lanes(values, products):
    """The sums, which begin at lines, by line: as many lines as sums, as wide as vectors."""
    n_sums = 12
    width = products // (COUNT * n_sums)
    return values.reshape(-1, 16)[:n_sums, :width]


def test_products_of_float32_are_added(vectors):
    operands = np.random.default_rng(0).normal(size=(2, N)).astype(np.float32)
    after, products = run("float32", operands)
    for before, values in zip(operands, after, strict=True):
        sums = lanes(before, products[0]).astype(np.float64)
        a, b = before.reshape(-1, 16)[12:14, : sums.shape[1]].astype(np.float64)
        expected = sums + COUNT * a * b
        np.testing.assert_allclose(lanes(values, products[0]), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("kernel", "sizes"), [("int8", (4, 2)), ("int16", (2,))])
def test_products_of_integers_are_added(vectors, kernel, sizes):
    """Sums grow by the same from turn to turn, and by no more than products can be."""
    operands = np.random.default_rng(1).integers(0, 100, (1, 4 * N)).astype(np.uint8)
    operands = operands.view(np.int32)
    turns = [run(kernel, operands, count)[0] for count in (1, 2)]
    many, products = run(kernel, operands)
    begin, first, second, last = (x.astype(np.int64) for x in (operands, *turns, many))
    assert not (((last - first) - (COUNT - 1) * (second - first)) % 2**32).any()
    assert (second != first).any()
    assert (first != begin).any()
    if (last != begin).sum() % 16 == 0 and products[0] % (12 * COUNT) == 0:  # not by AMX
        n_lanes = int((last != begin).sum())
        assert products[0] in [size * n_lanes * COUNT for size in sizes]


def test_lines_are_read(vectors):
    x = np.random.default_rng(2).integers(-1000, 1000, (3, 128)).astype(np.int32)
    program = Program()
    buffers = bound(x.shape, x.dtype), persistent((3,), np.int64)
    program.call("peak.read", *buffers, split=3, count=2)
    program.keep(buffers[1])
    program.close({buffers[0]: x})
    program.run()
    np.testing.assert_array_equal(program.array(buffers[1]), 2 * x.sum(axis=1))


def test_limits():
    reported = []
    limits = machine.measure(2, lambda: reported.append(1))
    assert len(reported) == machine.steps()
    assert limits.threads == 2
    assert set(limits.products) == {"float32", "int8", "int16"}
    assert min(limits.products.values()) > 1e8
    sizes, rates = zip(*limits.bandwidth, strict=True)
    assert list(sizes) == sorted(sizes)
    assert list(rates) == sorted(rates, reverse=True)
    assert limits.bytes_per_second(1) == rates[0]
    assert limits.bytes_per_second(1 << 40) == rates[-1]


def test_the_longer_of_both_counts():
    limits = machine.Limits(1, {"int8": 1e9}, ((1000, 1e6), (2000, 1e5)))
    assert limits.seconds("int8", 10**9, 10) == 1
    assert limits.seconds("int8", 10, 1000) == pytest.approx(1e-3)
    assert limits.seconds("int8", 0, 1500) == pytest.approx(15e-3)


def test_threads():
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        machine.measure(0)
