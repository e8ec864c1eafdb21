"""Instructions that do again what one before has done."""

import numpy as np
import pytest

from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.plan import cse
from flatlite.engine.plan.buffer import arena, bound, constant, persistent
from flatlite.engine.plan.program import Program

X, OTHER = np.arange(6, dtype=np.int32), np.full(6, 100, np.int32)


def copy(program, x, out=None):
    out = arena(x.shape, x.dtype) if out is None else out
    program.call("copy.copy", x, out, split=x.size)
    return out


def summed(program, a, b, x):
    """a + b of a program that is fed, and how often it copies."""
    out, limits = arena(a.shape, a.dtype), np.array([-(2**31), 2**31 - 1], np.int32)
    elementwise(program, "arithmetic.add", (a, b), out, constant(limits))
    program.keep(out)
    program.close({x: X})
    names = [name for _, name, _ in program.run(profile=True)]
    return program.array(out).tolist(), names.count("copy.copy")


def test_common_instructions_are_left_out():
    program, x = Program(), bound((6,), np.int32)
    a, b = copy(program, x), copy(program, x)
    a, b = copy(program, a), copy(program, b)  # the same now, too
    assert summed(program, a, b, x) == ((2 * X).tolist(), 2)


def test_other_bytes_are_not_common():
    program, x = Program(), bound((6,), np.int32)
    a = copy(program, x.part(0, 3))
    b = copy(program, x.part(3, 3))
    assert summed(program, a, b, x) == ([3, 5, 7], 2)


def test_what_is_written_in_between():
    program, x, state = Program(), bound((6,), np.int32), persistent((6,), np.int32)
    copy(program, x, state)
    a = copy(program, state)
    copy(program, constant(OTHER), state)
    b = copy(program, state)
    assert summed(program, a, b, x) == ((X + OTHER).tolist(), 4)


def read_later(program, x):
    b = copy(program, x)
    program.keep(b)
    return b


def branched_to(program, x):
    program.branch()
    return copy(program, x)


def read_by_python(program, x):
    b, out = copy(program, x), arena(x.shape, x.dtype)
    program.host(lambda source, target: np.copyto(target, source), [b], [out])
    return out


@pytest.mark.parametrize("again", [read_later, branched_to, read_by_python])
def test_results_somebody_else_asks_for(again):
    program, x = Program(), bound((6,), np.int32)
    a, b = copy(program, x), again(program, x)
    assert summed(program, a, b, x) == ((2 * X).tolist(), 2)


def test_results_that_are_written_again():
    program, x = Program(), bound((6,), np.int32)
    a, b = copy(program, x), copy(program, x)
    copy(program, constant(OTHER[:3]), b.part(0, 3))
    want = 2 * X
    want[:3] += OTHER[:3] - X[:3]
    assert summed(program, a, b, x) == (want.tolist(), 3)


def test_many_instructions_that_read_the_same_are_looked_at_once(monkeypatch):
    n_looks, look = 0, cse._expression

    def counted(*arguments):
        nonlocal n_looks
        n_looks += 1
        return look(*arguments)

    monkeypatch.setattr(cse, "_expression", counted)
    program, x = Program(), bound((600,), np.int32)
    parts = [copy(program, x.part(i, 1)) for i in [*range(600), 7, 599]]
    for part in parts:
        program.keep(part)
    n_before = len(program.instructions)
    program.close({x: np.arange(600, dtype=np.int32)})
    assert n_looks == n_before == len(program.instructions) == 602
    program.run()
    assert [int(program.array(part)[0]) for part in parts[-2:]] == [7, 599]
