"""What happens when a delegate fails to choose, compile or run its parts, or loses its device."""

import copy

import numpy as np
import pytest
from building import Builder, save
from delegated import CHAIN, Remote, assert_same, network, placed, prepared, run_random

from flatlite.interpreter.delegation.partition import Partitioning


def failing(base, what, times=10):
    """A delegate whose compiled parts, or whose compile or parts, raise `what`."""

    class Failing(base):
        failures = 0

        def fail(self):
            if self.failures < times:
                self.failures += 1
                raise what

        def compile(self, part):
            if not self.late:
                self.fail()
            run = super().compile(part)

            def once_in_a_while(*arrays):
                self.fail()
                return run(*arrays)

            return once_in_a_while if self.late else run

    return Failing


@pytest.mark.parametrize("error", [MemoryError("no room"), ValueError("bad"), KeyError("k")])
def test_the_cpu_takes_over_what_does_not_compile(error, chosen):
    content = network(CHAIN, "bd")
    delegate = failing(chosen, error, times=1)("acd")
    delegate.late = False
    with pytest.warns(RuntimeWarning) as caught:
        interpreter = prepared(content, [delegate])
    assert str(caught[0].message) == (
        f"delegate 'numpy' failed to compile part 0 (1 operator): {type(error).__name__}: {error}; "
        "the CPU runs its operators"
    )
    assert placed(interpreter) == "a>- b>- c>1 d>1"
    assert "failed to compile" in interpreter.delegate_report().operators[0].reason
    assert_same(run_random(interpreter), run_random(prepared(content)))


@pytest.mark.parametrize("claimed", ["a", "acd", "abcd", "bd"])
def test_the_cpu_takes_over_what_does_not_run(claimed, chosen):
    content = network(CHAIN, "bd")
    delegate = failing(chosen, OSError("the device is lost"))(claimed)
    delegate.late = True
    interpreter = prepared(content, [delegate])
    n_parts = len(interpreter.delegate_report().parts)
    with pytest.warns(
        RuntimeWarning, match="failed to run part .* device is lost; the CPU"
    ) as caught:
        got = run_random(interpreter)
    assert len(caught) == n_parts
    assert_same(got, run_random(prepared(content)))
    assert_same(
        run_random(interpreter, 1), run_random(prepared(content), 1)
    )  # without another warning
    assert delegate.failures == n_parts


def test_a_part_that_fails_later_takes_what_the_others_gave(chosen):
    content = network("a: RELU x\nb: VIEW a\nc: MUL b b\nd: VIEW c\ne: ADD d a", "e")
    delegate = failing(chosen, OSError("lost"), times=1)("ade")
    delegate.late, delegate.failures = True, 1
    interpreter = prepared(content, [delegate])
    assert_same(run_random(interpreter), run_random(prepared(content)))
    delegate.failures = 0
    with pytest.warns(RuntimeWarning, match="failed to run part 0"):
        assert_same(run_random(interpreter, 2), run_random(prepared(content), 2))
    assert_same(run_random(interpreter, 3), run_random(prepared(content), 3))


def test_failures_are_raised_when_that_is_asked_for(chosen):
    content = network(CHAIN, "d")
    delegate = failing(chosen, OSError("lost"), times=1)("abcd", fallback=False)
    delegate.late = False
    with pytest.raises(
        RuntimeError, match=r"OSError: lost\n.*\nNode number 0 \(DELEGATE\) failed to prepare"
    ):
        prepared(content, [delegate])
    delegate.late, delegate.failures = True, 0
    interpreter = prepared(content, [delegate])
    with pytest.raises(
        RuntimeError, match=r"OSError: lost\nNode number 0 \(DELEGATE\) failed to invoke"
    ):
        run_random(interpreter)
    assert_same(run_random(interpreter), run_random(prepared(content)))


@pytest.mark.parametrize(
    ("results", "message"),
    [
        (lambda x: [], "it gave 0 results, must give 1"),
        (lambda x: [x.T], r"'d' must be float32 \(2, 3\), got float32 \(3, 2\)"),
        (lambda x: [x.astype(np.float64)], r"'d' must be float32 \(2, 3\), got float64 \(2, 3\)"),
        (lambda x: None, "TypeError"),
        (lambda x: [None], "AttributeError"),
    ],
)
def test_wrong_results_are_failures(results, message, chosen):
    class Wrong(chosen):
        def compile(self, part):
            return lambda *arrays: results(arrays[0])

    content = network(CHAIN, "d")
    interpreter = prepared(content, [Wrong("abcd")])
    with pytest.warns(RuntimeWarning, match=message):
        assert_same(run_random(interpreter), run_random(prepared(content)))


def test_inputs_cannot_be_written(chosen):
    class Careless(chosen):
        def compile(self, part):
            def run(x):
                x += 1
                return [x]

            return run

    content = network("a: RELU x", "ax")
    interpreter = prepared(content, [Careless("a")])
    with pytest.warns(RuntimeWarning, match="read-only"):
        assert_same(run_random(interpreter), run_random(prepared(content)))
    assert_same(run_random(interpreter), run_random(prepared(content)))


@pytest.mark.parametrize(
    ("cut", "message"),
    [
        (
            lambda ops: [[ops[0], ops[2]], [ops[1]]],
            "its parts wait for one another: numpy 0, numpy 1",
        ),
        (lambda ops: [[ops[0]], [ops[0]]], "an operator is in two parts"),
        (lambda ops: [[copy.copy(ops[0])]], "operators that were not offered"),
        (lambda ops: [[]], "IndexError"),
    ],
)
def test_impossible_parts_are_failures(cut, message, chosen):
    class Wrong(chosen):
        def parts(self, ops):
            return Partitioning(cut(ops), {})

    content = network(CHAIN, "d")
    with pytest.warns(RuntimeWarning, match=f"failed to choose its parts: .*{message}"):
        interpreter = prepared(content, [Wrong("abcd")])
    assert placed(interpreter) == "a>- b>- c>- d>-"
    assert_same(run_random(interpreter), run_random(prepared(content)))


class Gone(Remote):
    """A result on a device that is lost as soon as `lost` says so."""

    lost = False

    def __array__(self, dtype=None, copy=None):
        if Gone.lost:
            raise OSError("the device is gone")
        return self._array


@pytest.mark.parametrize("stateful", [False, True])
def test_a_device_lost_in_mid_run(stateful, chosen, monkeypatch):
    class Fragile(chosen):
        def compile(self, part):
            run = super().compile(part)

            def far(*arrays):
                if Gone.lost and part.number:
                    raise OSError("the device is gone")
                near = [x._array if isinstance(x, Remote) else x for x in arrays]
                results = [Gone(x, []) for x in run(*near)]
                return results if not Gone.lost else [results[0], *map(np.asarray, run(*near)[1:])]

            return far

    b = Builder()
    x = b.input("x", (3,))
    a, c, d, e = (b.tensor(n, (3,)) for n in "acde")
    b.op("ADD", [x, x], [a])
    b.op("MUL", [a, a], [c])
    state = b.tensor("state", (3,), is_variable=True)
    b.op("ADD", [c, state if stateful else x], [d])
    b.op("SUB", [d, a], [e])
    content = save(b.outputs(e))
    interpreter = prepared(content, [Fragile("ace")])
    plain = prepared(content)
    assert placed(interpreter) == "a>0 c>0 d>- e>1"
    assert_same(run_random(interpreter), run_random(plain))
    monkeypatch.setattr(Gone, "lost", True)
    with pytest.warns(RuntimeWarning, match="failed to run part 1"):
        if stateful:
            with pytest.raises(RuntimeError, match="'numpy' has lost results: the device is gone"):
                run_random(interpreter)
        else:
            assert_same(run_random(interpreter), run_random(plain))
    assert_same(run_random(interpreter, 1), run_random(plain, 1))
