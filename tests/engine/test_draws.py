"""Random numbers as instructions: those of the stream in numpy, which is the published Philox."""

import numpy as np
import pytest

from flatlite.engine import philox
from flatlite.engine.families.draws import draw
from flatlite.engine.philox import Philox
from flatlite.engine.plan.buffer import PERSISTENT, Buffer, Storage, bound, constant
from flatlite.engine.plan.program import Program
from flatlite.engine.run.faults import Fault

KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]
"""Key, counter and words of Philox 4x32 with 10 rounds: kat_vectors of the authors' Random123."""


def together(words):
    return sum(word << (32 * i) for i, word in enumerate(words))


@pytest.mark.parametrize("row", range(len(KNOWN)))
def test_known_answers(row):
    key, counter, words = KNOWN[row]
    stream = Philox.at(together(key), together(counter))
    assert tuple(stream.words(np.zeros(1))[0].tolist()) == words


def drawn(stream, kind, n, n_counters, threads=1, runs=2, dtype=np.float32, limits=()):
    """What a program draws in several runs."""
    memory = stream.memory
    place = Buffer(memory.dtype, memory.shape, Storage(PERSISTENT, 24, memory.view(np.uint8)))
    program, out = Program(threads=threads), bound((n,), dtype)
    scalars = [constant(np.array(limit, dtype)) for limit in limits]
    draw(program, kind, place, out, n_counters, scalars)
    result = np.empty(n, dtype)
    program.close({out: result})
    for _ in range(runs):
        program.run()
        yield result.copy()


@pytest.mark.parametrize("start", [0, 5, 2**64 - 2, 2**128 - 1])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10_001])
def test_uniform(n, start):
    """The same numbers, and the stream stands where it should, also behind the end of a word."""
    key = 0x1234_5678_9ABC_DEF0
    mine, plain = Philox.at(key, start), Philox.at(key, start)
    for numbers in drawn(mine, "uniform", n, 256 * n, threads=2 if n > 7 else 1):
        np.testing.assert_array_equal(numbers, philox.uniform(plain, n, np.dtype(np.float32)))
        plain.skip(256 * n)
        np.testing.assert_array_equal(mine.memory, plain.memory)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10_001])
def test_normal(n):
    """The same numbers but for the rounding of functions."""
    mine, plain = Philox(3, 9), Philox(3, 9)
    for numbers in drawn(mine, "normal", n, 256 * n):
        expected = philox.normal(plain, n, np.dtype(np.float32))
        plain.skip(256 * n)
        np.testing.assert_allclose(numbers, expected, rtol=3e-6, atol=3e-7)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10_001])
def test_truncated_normal(n):
    """The same numbers but for the rounding of functions, those drawn again among them."""
    mine, plain = Philox(3, 9), Philox(3, 9)
    for numbers in drawn(mine, "truncated", n, 256 * n, threads=2 if n > 7 else 1):
        expected = philox.truncated_normal(plain, n, np.dtype(np.float32))
        plain.skip(256 * n)
        np.testing.assert_allclose(numbers, expected, rtol=3e-6, atol=3e-7)


LIMITS = {
    np.int32: [(0, 10), (-5, 1), (-(2**31), 2**31 - 1), (7, 8)],
    np.int64: [(0, 10), (-(2**63), 2**63 - 1), (-3, 2**40)],
}


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 10_001])
@pytest.mark.parametrize(("dtype", "limits"), [(t, x) for t, rows in LIMITS.items() for x in rows])
def test_integers(dtype, limits, n):
    mine, plain = Philox(3, 9), Philox(3, 9)
    more = {"dtype": dtype, "limits": limits, "threads": 2 if n > 7 else 1}
    for numbers in drawn(mine, "integers", n, 256 * n, **more):
        expected = philox.integers(plain, n, *limits, np.dtype(dtype))
        plain.skip(256 * n)
        np.testing.assert_array_equal(numbers, expected)


def test_no_integers_between_limits():
    with pytest.raises(Fault, match="below 3, got 3"):
        next(drawn(Philox(3, 9), "integers", 4, 4, dtype=np.int32, limits=(3, 3)))
