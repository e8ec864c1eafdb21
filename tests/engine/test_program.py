import gc
import mmap
import signal
import subprocess
import sys
import threading
import time
import weakref
from _thread import interrupt_main

import numpy as np
import pytest

from flatlite.engine.plan import instruction
from flatlite.engine.plan.arena import address
from flatlite.engine.plan.buffer import Buffer, Storage, arena, bound, constant, persistent
from flatlite.engine.plan.program import Program
from flatlite.engine.run.faults import INDEX_OUT_OF_RANGE, Fault

pytestmark = pytest.mark.usefixtures("testing")
f32, i32 = np.float32, np.int32


def names(program):
    return [name for _, name, _ in program.run(profile=True)]


def test_numbers_arrive_as_declared():
    program, out = Program(), arena((6,), np.float64)
    numbers = {"a": -(1 << 40), "b": 0.1, "c": 0.1, "d": -128, "e": True, "g": (1 << 64) - 1}
    program.call("testing.numbers", out, **numbers)
    program.keep(out)
    program.close()
    expected = [-(1 << 40), 0.1, float(f32(0.1)), -128, 1, float((1 << 64) - 1)]
    assert program.array(out).tolist() == expected


@pytest.mark.parametrize(("dtype", "low"), [(np.int8, -3), (f32, 0.5)])
def test_numbers_follow_the_dtype_of_the_arrays(run_kernel, dtype, low):
    program, out = Program(), arena((3,), dtype)
    x = constant(np.array([-7, 0, 7], dtype))
    program.call("testing.at_least", x, out, split=3, low=low)
    program.keep(out)
    program.close()
    np.testing.assert_array_equal(program.array(out), np.maximum(x.value, dtype(low)))


def test_a_constant_out_of_order_is_copied_when_it_is_read():
    elements = np.arange(6, dtype=f32).reshape(2, 3)
    unaligned = np.frombuffer(b"-" + elements.tobytes(), f32, offset=1).reshape(2, 3)
    for values in (elements.T, unaligned):
        buffer = constant(values)
        assert (buffer.shape, buffer.nbytes) == (values.shape, 24)
        np.testing.assert_array_equal(buffer.value, values)
        assert buffer.value.flags.aligned and not np.shares_memory(buffer.value, elements)
        assert buffer.storage.array is buffer.storage.array


def test_rows_run_in_order_and_share_the_arena():
    program, x = Program(), bound((1000,), f32)
    here = x
    for _ in range(10):
        there = arena((1000,), f32)
        program.call("testing.reverse_twice", here, arena((1000,), f32), there)  # not in place
        here = there
    program.keep(here)
    values = np.random.default_rng(0).random(1000, f32)
    program.close({x: values})
    program.run()
    np.testing.assert_array_equal(program.array(here), values)
    assert program.arena_bytes == 3 * 4032  # 4000 bytes thrice, in whole lines of 64


def test_constant_rows_run_once():
    program, x = Program(), bound((3,), f32)
    packed, more, out = (arena((3,), f32) for _ in range(3))
    values = np.array([1, 2, 3], f32)
    program.call("copy.copy", constant(values), packed, split=3)
    program.call("testing.reverse_twice", packed, arena((3,), f32), more)
    program.call("copy.copy", x, out, split=3)
    program.call("testing.reverse_twice", more, arena((3,), f32), arena((3,), f32))
    program.keep(more)
    program.keep(out)
    program.close({x: values})
    values[:] = 0  # the constant's own memory: what was packed must not be read again
    assert names(program) == ["copy.copy"]
    assert program.array(more).tolist() == [1, 2, 3]
    assert program.arena_bytes == 64


def test_scratch_of_a_constant_row_is_let_go():
    program, scratch, out = Program(), arena((1 << 16,), f32), arena((1 << 16,), f32)
    program.call("testing.reverse_twice", constant(np.zeros(1 << 16, f32)), scratch, out)
    program.keep(out)
    program.close()
    with pytest.raises(ValueError, match="was not kept"):
        program.array(scratch)


def test_views_share_their_storage():
    program, x = Program(), bound((2, 3), f32)
    both = arena((12,), f32)
    halves = [Buffer(f32, (6,), both.storage, 24 * i) for i in range(2)]
    for half in halves:
        program.call("copy.copy", x.ravel(), half, split=6)
    program.keep(both)
    program.close({x: np.arange(6, dtype=f32).reshape(2, 3)})
    program.run()
    assert program.array(both).tolist() == [*range(6), *range(6)]
    assert program.array(both.reshape((3, 4)))[2, 3] == 5


def test_overlapping_windows_are_refused():
    program, x = Program(), persistent((8,), f32)
    left, right = (Buffer(f32, (6,), x.storage, 4 * i) for i in (0, 2))
    message = "'out' must not overlap 'x', got bytes 8 to 32 and 0 to 24 of one storage"
    with pytest.raises(ValueError, match=message):
        program.call("copy.copy", left, right)
    program.call("copy.copy", left, left, split=6)  # the same bytes are in place


def test_persistent_buffers_keep_their_bytes():
    state, first, second = persistent((2,), i32), Program(), Program()
    for program in (first, second):
        program.call("testing.count", state, split=2)
        program.close()
    for _ in range(3):
        first.run()
    second.run()
    assert first.array(state).tolist() == [4, 4]


def test_bound_buffers_may_be_bound_anew():
    program, x, out = Program(), bound((4,), f32), bound((4,), f32)
    program.call("copy.copy", x, out, split=4)
    program.close()
    with pytest.raises(RuntimeError, match="a bound buffer has no array yet"):
        program.run()
    results = [np.zeros(4, f32) for _ in range(2)]
    for i, result in enumerate(results):
        program.rebind(x, np.full(4, i + 1, f32))
        program.rebind(out, result)
        program.run()
    assert [r.tolist() for r in results] == [[1] * 4, [2] * 4]


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.zeros(4, np.float64), r"cannot bind float64 \(4,\): float32 \(4,\) in C order"),
        (np.zeros(5, f32), "cannot bind"),
        (np.zeros(8, f32)[::2], "cannot bind"),
        (np.zeros(17, np.uint8)[1:].view(f32), "is not aligned"),
        (np.broadcast_to(np.zeros(4, f32), (1, 4)).reshape(4), "is read only"),
    ],
)
def test_arrays_that_cannot_be_bound_are_refused(array, message):
    program, out = Program(), bound((4,), f32)
    program.call("copy.copy", constant(np.zeros(4, f32)), out)
    program.close()
    with pytest.raises(ValueError, match=message):
        program.rebind(out, array)


def test_host_steps_run_between_native_rows():
    program, x = Program(), bound((3,), f32)
    copied, doubled, words, out = (
        arena((3,), f32),
        arena((3,), f32),
        arena((1, 2), object),
        arena((3,), f32),
    )

    def double(value, result, text):
        np.multiply(value, 2, out=result)
        text[:] = [["a", str(value.sum())]]

    program.call("copy.copy", x, copied, split=3)
    program.host(double, [copied], [doubled, words])
    program.call("copy.copy", doubled, out, split=3)
    for buffer in (words, out):
        program.keep(buffer)
    program.close({x: np.array([1, 2, 3], f32)})
    assert names(program) == ["copy.copy", "host", "copy.copy"]
    assert program.array(out).tolist() == [2, 4, 6]
    assert program.array(words).tolist() == [["a", "6.0"]]


def test_host_steps_cannot_write_constants():
    x, program = constant(np.zeros(3, f32)), Program()
    with pytest.raises(ValueError, match="must not write to a constant"):
        program.host(np.copyto, [], [x])
    program.host(lambda value: value.fill(1), [x], [])
    program.close()
    with pytest.raises(ValueError, match="read-only"):
        program.run()


def test_fault_stops_after_its_row_and_the_program_stays_usable():
    program, x, state = Program(), bound((4,), i32), persistent((1,), i32)
    out = arena((4,), i32)
    program.call("testing.count", state, split=1)
    program.tag = "second"
    program.call("testing.digits", x, out, split=4)
    program.tag = "third"
    program.call("testing.count", state, split=1)
    program.keep(out)
    good = np.array([1, 2, 3, 4], i32)
    program.close({x: np.array([1, 12, -1, 3], i32)})
    with pytest.raises(
        Fault, match=r"indices must be in \[0, 10\), got 12 at position 1"
    ) as caught:
        program.run()
    fault = caught.value
    assert (fault.tag, fault.code, fault.i, fault.value) == ("second", INDEX_OUT_OF_RANGE, 1, 12)
    assert program.array(state).tolist() == [1]
    program.rebind(x, good)
    program.run()
    assert program.array(out).tolist() == [1, 2, 3, 4]
    assert program.array(state).tolist() == [3]


def test_fault_of_a_constant_row_comes_from_close():
    program = Program()
    program.tag = "here"
    program.call("testing.digits", constant(np.array([11], i32)), arena((1,), i32), split=1)
    with pytest.raises(Fault, match="got 11 at position 0") as caught:
        program.close()
    assert caught.value.tag == "here"


def test_items_are_all_dealt_out_once():
    n = 1 << 17
    program, out = Program(), bound((n, 2), np.int64)
    program.call("testing.dealt", out, split=n)
    got = np.full((n, 2), -1)
    program.close({out: got})
    program.run()
    chunks = np.unique(got, axis=0)
    assert len(chunks) == instruction.UNTIMED_CHUNKS
    assert chunks[0, 0] == 0
    assert chunks[-1, 1] == n
    np.testing.assert_array_equal(chunks[1:, 0], chunks[:-1, 1])
    where = np.arange(n)
    assert ((got[:, 0] <= where) & (where < got[:, 1])).all()


def test_nothing_to_split_runs_no_item():
    program, out = Program(), bound((3, 2), np.int64)
    program.call("testing.dealt", out, split=0)
    got = np.full((3, 2), -1)
    program.close({out: got})
    program.run()
    assert (got == -1).all()


def spinning(instruction, items, steps=1 << 34):
    """A program that runs for a minute or more."""
    program, out = Program(), bound((items,), np.float64)
    for _ in range(instruction):
        program.call("testing.spin", out, turns=steps // instruction // items, split=items)
    program.close({out: np.zeros(items)})
    return program


@pytest.mark.usefixtures("sigint")
@pytest.mark.parametrize("shape", [(1000, 64), (1, 1 << 15)])
def test_ctrl_c_ends_a_long_run(shape):
    program = spinning(*shape)
    timer = threading.Timer(0.1, interrupt_main)
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        program.run()
    timer.join()
    assert time.monotonic() - start < 20  # far from the end, however busy the machine


def test_check_is_called_and_may_end_a_run():
    program, calls = spinning(1000, 64), []

    def check():
        calls.append(1)
        if len(calls) == 3:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        program.run(check=check)
    assert len(calls) == 3


def test_profile_names_rows_and_tags():
    program, out = Program(), bound((4,), f32)
    program.tag = ("node", 7)
    program.call("copy.copy", constant(np.zeros(4, f32)), out, split=4)
    program.close({out: np.zeros(4, f32)})
    ((tag, name, seconds),) = program.run(profile=True)
    assert (tag, name) == (("node", 7), "copy.copy")
    assert seconds > 0


def test_views_outlive_the_program():
    program, x, out = Program(), bound((4,), f32), arena((4,), f32)
    program.call("copy.copy", x, out, split=4)
    program.keep(out)
    program.close({x: np.arange(4, dtype=f32)})
    program.run()
    view, reference = program.array(out), weakref.ref(program)
    del program
    gc.collect()
    assert reference() is None
    assert view.tolist() == [0, 1, 2, 3]


def test_memory_limit_counts_everything():
    def make(limit):
        program, x = Program(memory_limit=limit), bound((1 << 20,), f32)
        out = arena((1 << 20,), f32)
        program.call("copy.copy", x, out, split=1)
        program.call("copy.copy", out, persistent((1 << 20,), f32), split=1)
        program.close()

    make(8 << 20)
    with pytest.raises(MemoryError, match="need 8,388,608 bytes, at most 8,388,607 may be used"):
        make((8 << 20) - 1)


def test_absurd_sizes_fail_before_anything_is_allocated():
    program, huge = Program(), Buffer(f32, (1 << 40,), Storage("arena", 1 << 42))
    program.call("copy.fill", constant(np.zeros(1, f32)), huge)
    with pytest.raises(MemoryError, match="4,398,046,511,104 bytes"):
        program.close()


def test_reading_before_writing_is_refused():
    program = Program()
    program.call("copy.copy", arena((4,), f32, "x"), arena((4,), f32))
    with pytest.raises(
        ValueError, match=r"copy\.copy: reads x before any instruction has written it"
    ):
        program.close()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nothing.copy", "no kernel module 'nothing'; there are .*copy"),
        ("copy.nothing", r"no kernel 'copy\.nothing'; copy has copy, fill"),
        ("../copy.copy", "no kernel module ''"),
    ],
)
def test_unknown_kernels_are_refused(name, message):
    with pytest.raises(ValueError, match=message):
        Program().call(name)


def test_negative_split_is_refused():
    with pytest.raises(ValueError, match="split must not be negative, got -1"):
        Program().call("copy.copy", bound((1,), f32), arena((1,), f32), split=-1)


def test_a_closed_program_takes_no_rows():
    program = Program()
    with pytest.raises(RuntimeError, match="is not closed"):
        program.run()
    program.close()
    program.run()
    for step in (program.close, lambda: program.keep(arena((1,), f32))):
        with pytest.raises(RuntimeError, match="the program is closed"):
            step()


def test_constants_need_not_be_aligned():
    odd = np.arange(17, dtype=np.uint8)[1:].view(f32)
    program, out = Program(), arena((4,), f32)
    program.call("copy.copy", Buffer(f32, (4,), Storage("constant", 16, odd)), out, split=4)
    program.keep(out)
    program.close()
    np.testing.assert_array_equal(program.array(out), odd)


@pytest.mark.parametrize("kind", [arena, persistent])
def test_guarded_tensors_end_at_their_guard_page(kind):
    program, x, out = Program(guard=True), kind((1000,), f32), arena((1000,), f32)
    program.call("copy.fill", constant(np.ones(1, f32)), x, split=1000)
    program.call("copy.copy", x, out, split=1000)
    program.keep(x)
    program.keep(out)
    program.close()
    program.run()
    for buffer in (x, out):
        array = program.array(buffer)
        assert (address(array) + array.nbytes) % mmap.PAGESIZE == 0
        assert (array == 1).all()


def test_running_past_a_guarded_tensor_ends_the_process():
    code = """
import numpy as np
from flatlite.engine.plan.buffer import arena, persistent
from flatlite.engine.plan.program import Program
program = Program(guard=True)
program.call("copy.copy", persistent((1000,), np.int8), arena((1000,), np.int8), split=1001)
program.close()
program.run()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == -signal.SIGSEGV, done.stderr
