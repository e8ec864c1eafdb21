"""Loops and branches in machine code."""

import numpy as np
import pytest

from flatlite.engine.families.elementwise import elementwise
from flatlite.engine.families.layout import move
from flatlite.engine.plan.buffer import arena, bound, constant, persistent
from flatlite.engine.plan.program import Program
from flatlite.engine.run.faults import Fault

THREADS = pytest.mark.parametrize("threads", [1, 2])


pytestmark = pytest.mark.usefixtures("everything_is_shared")


def i32(*values):
    return constant(np.array(values, np.int32))


def add(program, a, b, out):
    limits = np.array([-(2**31), 2**31 - 1], np.int32)
    elementwise(program, "arithmetic.add", (a, b), out, constant(limits))


def less(program, a, b):
    out = arena((1,), bool)
    elementwise(program, "compare.less", (a, b), out)
    return out


def count_to(program, stop, body=lambda program, counter: None):
    """A loop over 0, 1, ... below `stop`; gives its counter."""
    counter, following = persistent((1,), np.int32), arena((1,), np.int32)
    move(program, i32(0), counter)
    head = program.branch()
    flag = less(program, counter, stop)
    leave = program.branch(unless=flag)
    body(program, counter)
    add(program, counter, i32(1), following)
    move(program, following, counter)
    program.branch(to=head)
    leave.target = program.branch()
    return counter


@THREADS
def test_loop(threads):
    program = Program(threads=threads)
    stop = bound((1,), np.int32)
    many = bound((1000,), np.int32)
    total = persistent((1000,), np.int32)
    move(program, constant(np.zeros(1000, np.int32)), total)

    def body(program, counter):
        both = arena((1000,), np.int32)
        add(program, total, many, both)
        move(program, both, total)

    counter = count_to(program, stop, body)
    program.keep(counter)
    program.keep(total)
    steps = np.arange(1000, dtype=np.int32)
    limit = np.array([0], np.int32)
    program.close({stop: limit, many: steps})
    for turns in (7, 0, 1, 500, 3):
        limit[0] = turns
        program.run()
        assert program.array(counter).tolist() == [turns]
        np.testing.assert_array_equal(program.array(total), turns * steps)
    names = [name for _, name, _ in program.run(profile=True)]
    assert "arithmetic.add" in names
    assert "branch" not in names


@THREADS
def test_loops_within_loops(threads):
    program = Program(threads=threads)
    stop, total = bound((1,), np.int32), persistent((1,), np.int32)
    move(program, i32(0), total)

    def inner(program, counter):
        both = arena((1,), np.int32)
        add(program, total, i32(1), both)
        move(program, both, total)

    count_to(program, stop, lambda program, counter: count_to(program, counter, inner))
    program.keep(total)
    program.close({stop: np.array([10], np.int32)})
    program.run()
    program.run()
    assert program.array(total).tolist() == [45]


def test_branch():
    program = Program()
    x, out = bound((1,), np.int32), persistent((1,), np.int32)
    to_other = program.branch(unless=less(program, x, i32(5)))
    move(program, i32(1), out)
    to_end = program.branch()
    to_other.target = program.branch()
    move(program, i32(2), out)
    to_end.target = program.branch()
    program.keep(out)
    inputs = np.array([0], np.int32)
    program.close({x: inputs})
    for value, expected in ((3, 1), (7, 2), (4, 1)):
        inputs[0] = value
        program.run()
        assert program.array(out).tolist() == [expected]


@THREADS
def test_what_a_loop_reads_lives_to_its_end(threads):
    """An arena buffer from before a loop keeps its bytes though its last reader comes early."""
    program = Program(threads=threads)
    x, stop = bound((64,), np.int32), bound((1,), np.int32)
    doubled, total = arena((64,), np.int32), persistent((64,), np.int32)
    add(program, x, x, doubled)
    move(program, constant(np.zeros(64, np.int32)), total)

    def body(program, counter):
        first, second = arena((64,), np.int32), arena((64,), np.int32)
        add(program, doubled, total, first)
        add(program, first, i32(0), second)
        move(program, second, total)

    count_to(program, stop, body)
    program.keep(total)
    inputs = np.arange(64, dtype=np.int32)
    program.close({x: inputs, stop: np.array([9], np.int32)})
    program.run()
    np.testing.assert_array_equal(program.array(total), 18 * inputs)


@THREADS
def test_endless_loop_is_interrupted(threads):
    program = Program(threads=threads)
    flag = bound((1,), bool)
    head = program.branch()
    leave = program.branch(unless=flag)
    program.branch(to=head)
    leave.target = program.branch()
    going = np.array([True])
    program.close({flag: going})
    calls = []

    def check():
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        program.run(check)
    going[0] = False
    program.run()


@THREADS
def test_fault_in_a_loop(threads):
    program = Program(threads=threads)
    table = constant(np.arange(4, dtype=np.int32).reshape(1, 1, 4, 1))
    stop = bound((1,), np.int32)

    def body(program, counter):
        program.tag = "gather"
        actual = arena((1, 1, 1, 1), np.int32)
        program.call("gather.slices", table, counter.reshape((1, 1)), actual, split=1)
        program.tag = None

    counter = count_to(program, stop, body)
    program.keep(counter)
    limit = np.array([9], np.int32)
    program.close({stop: limit})
    with pytest.raises(Fault) as caught:
        program.run()
    assert caught.value.tag == "gather"
    limit[0] = 4
    program.run()
    assert program.array(counter).tolist() == [4]


@THREADS
@pytest.mark.parametrize("at", ["outer", "inner", "branch"])
def test_host_steps_in_loops(threads, at):
    """Triangular numbers by loops within loops, a host step somewhere in them."""
    program, seen = Program(threads=threads), list[int]()
    stop, total = bound((1,), np.int32), persistent((1,), np.int32)
    move(program, i32(0), total)

    def note(program, counter):
        program.host(lambda x: seen.append(int(x[0])), [counter], [])

    def inner(program, counter):
        both = arena((1,), np.int32)
        add(program, total, i32(1), both)
        move(program, both, total)
        if at == "inner":
            note(program, total)
        if at == "branch":
            past = program.branch(unless=less(program, total, i32(4)))
            note(program, total)
            past.target = program.branch()

    def outer(program, counter):
        count_to(program, counter, inner)
        if at == "outer":
            program.host(lambda x: seen.append(int(x[0])), [counter], [])

    count_to(program, stop, outer)
    program.keep(total)
    limit = np.array([0], np.int32)
    program.close({stop: limit})
    for turns in (4, 0, 1, 5):
        limit[0], count = turns, turns * (turns - 1) // 2
        program.run()
        assert program.array(total).tolist() == [count]
        counted = list(range(1, count + 1))
        expected = {"outer": list(range(turns)), "inner": counted, "branch": counted[:3]}
        assert seen == expected[at]
        seen.clear()
    limit[0] = 3
    profile = program.run(profile=True)
    assert [tag_name for _, tag_name, _ in profile].count("host") == 3


def test_a_host_step_that_fails_in_a_loop_leaves_the_program_usable():
    program = Program()
    stop = bound((1,), np.int32)

    def refuse(counter, limit):
        if counter[0] == limit[0] - 1 == 4:
            raise ValueError("five")

    counter = count_to(program, stop, lambda program, x: program.host(refuse, [x, stop], []))
    program.keep(counter)
    limit = np.array([5], np.int32)
    program.close({stop: limit})
    with pytest.raises(ValueError, match="five"):
        program.run()
    limit[0] = 9
    program.run()
    assert program.array(counter).tolist() == [9]


@pytest.mark.parametrize("later", [False, True])
def test_what_is_constant_may_fault_only_where_a_run_comes_to_it(later):
    """A gather of constants behind a branch: alone, or before another constant instruction."""
    program = Program()
    flag, out = bound((1,), bool), persistent((1,), np.int32)
    values, index = constant(np.int32([[[[1], [2]]]])), constant(np.int64([[2]]))
    move(program, i32(7), out)
    leave = program.branch(unless=flag)
    gathered = arena((1, 1, 1, 1), np.int32)
    program.call("gather.slices", values, index, gathered, split=1)
    if later:
        total = arena((1,), np.int32)
        add(program, gathered.ravel(), i32(1), total)
        move(program, total, out)
    else:
        move(program, gathered.ravel(), out)
    leave.target = program.branch()
    program.keep(out)
    condition = np.zeros(1, bool)
    program.close({flag: condition})
    program.run()
    assert program.array(out) == 7
    condition[0] = True
    with pytest.raises(Fault, match=r"indices must be in \[0, 2\), got 2 at position 0"):
        program.run()
    condition[0] = False
    program.run()
    assert program.array(out) == 7


def test_what_every_run_comes_to_faults_before_the_first():
    program = Program()
    gathered = arena((1, 1, 1, 1), np.int32)
    values, index = constant(np.int32([[[[1], [2]]]])), constant(np.int64([[2]]))
    skipped = program.branch(unless=bound((1,), bool))
    skipped.target = program.branch()
    program.call("gather.slices", values, index, gathered, split=1)
    program.keep(gathered)
    with pytest.raises(Fault, match=r"indices must be in \[0, 2\), got 2"):
        program.close()
