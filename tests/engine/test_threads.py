"""Several threads per program: the same bytes, no thread left behind, no hang."""

import gc
import os
import threading
import time
from _thread import interrupt_main
from itertools import count

import numpy as np
import pytest

from flatlite.engine import abi
from flatlite.engine.build.target import AFFINITY
from flatlite.engine.plan import instruction
from flatlite.engine.plan.buffer import arena, bound
from flatlite.engine.plan.program import Program
from flatlite.engine.run import plan_runner, thread_pool
from flatlite.engine.run.faults import Fault
from flatlite.engine.run.plan_runner import TRIALS
from flatlite.interpreter.interpreter import Interpreter

f32, i32 = np.float32, np.int32


pytestmark = pytest.mark.usefixtures("testing", "everything_is_shared")


def workers():
    return [thread for thread in threading.enumerate() if thread.name == "flatlite"]


def wait_until(condition, seconds=30):
    """Whether `condition()` came true within a generous time."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        gc.collect()
        time.sleep(0.01)
    return True


@pytest.fixture
def alone():
    """Starts without workers of other tests."""
    assert wait_until(lambda: not workers())


def chain(n_threads, seed, n=4096, n_instructions=20):
    """(program, output): instructions of many items and of one, each over the one before."""
    program = Program(threads=n_threads)
    x = bound((n,), f32)
    last = x
    for i in range(n_instructions):
        out = arena((n,), f32)
        program.call("testing.at_least", last, out, low=i / n_instructions - 0.5, split=n)
        program.call("testing.reverse_twice", out, arena((n,), f32), last := arena((n,), f32))
    program.keep(last)
    data = np.random.default_rng(seed).standard_normal(n).astype(f32)
    program.close({x: data})
    return program, last


def expected(n, seed, n_instructions=20):
    data = np.random.default_rng(seed).standard_normal(n).astype(f32)
    for i in range(n_instructions):
        data = np.maximum(data, f32(i / n_instructions - 0.5))
    return data


@pytest.mark.parametrize("n_threads", [1, 2, 3, 4, 9])
def test_results_do_not_depend_on_threads(n_threads):
    program, out = chain(n_threads, 7)
    for _ in range(TRIALS + 20):
        program.array(out)[:] = 0
        program.run()
        assert np.array_equal(program.array(out), expected(4096, 7))


@pytest.mark.parametrize("native_sleep", [True, False])
def test_programs_run_at_once(native_sleep, monkeypatch):
    """A few seconds of programs of 2 to 4 threads in Python threads of their own."""
    monkeypatch.setattr(
        thread_pool, "pool_set", lambda n: pools.setdefault(n, thread_pool.PoolSet(n, native_sleep))
    )
    pools, wrong, counts = {}, [], [0] * 5
    built = [chain(n, n) for n in (2, 2, 3, 4, 4)]
    end = time.monotonic() + 2

    def loop(number, n_threads):
        program, out = built[number]
        right = expected(4096, n_threads)
        while time.monotonic() < end:
            program.array(out)[:] = 0
            program.run()
            counts[number] += 1
            if not np.array_equal(program.array(out), right):
                wrong.append(n_threads)
            if counts[number] % 50 == 0:
                time.sleep(0.004)  # long enough for the workers to fall asleep

    loops = [threading.Thread(target=loop, args=(i, n)) for i, n in enumerate((2, 2, 3, 4, 4))]
    for thread in loops:
        thread.start()
    for thread in loops:
        thread.join()
    assert wrong == []
    assert min(counts) > TRIALS
    for one in pools.values():
        one.close_idle()


@pytest.mark.parametrize(
    "path",
    ["C/lenet_k3/float.tflite", "C/mobilenet_v2_k3/float.tflite", "D/basic_pitch/nmp.tflite"],
)
def test_models_give_the_same_bytes(corpus, path, monkeypatch):
    monkeypatch.undo()  # instructions are shared as they are for everybody
    results = []
    for n_threads in (1, 2, 3, 4):
        interpreter = Interpreter(corpus / path, num_threads=n_threads)
        interpreter.allocate_tensors()
        rng = np.random.default_rng(0)
        for detail in interpreter.get_input_details():
            value = rng.standard_normal(detail["shape"]).astype(detail["dtype"])
            interpreter.set_tensor(detail["index"], value)
        for _ in range(TRIALS + 2):
            interpreter.invoke()
            outputs = [d["index"] for d in interpreter.get_output_details()]
            results.append([interpreter.get_tensor(i).tobytes() for i in outputs])
    assert all(result == results[0] for result in results)


def test_workers_start_with_the_first_run_and_go_with_the_last_program(alone):
    program, _ = chain(3, 0)
    other, _ = chain(3, 1)
    assert not workers()
    for _ in range(TRIALS + 1):
        program.run()
        other.run()
    assert len(workers()) == 2  # both use the same
    del program
    gc.collect()
    assert len(workers()) == 2
    del other
    assert wait_until(lambda: not workers())


def test_one_thread_starts_no_workers(alone):
    program, _ = chain(1, 0)
    program.run()
    assert not workers()


def test_what_is_too_short_to_share_starts_no_workers(alone, monkeypatch):
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 1 << 40)
    monkeypatch.setattr(instruction, "MIN_PARALLEL_TIME", 1 << 40)
    program, _ = chain(4, 0)
    for _ in range(TRIALS + 1):
        program.run()
    assert not workers()


def test_rows_are_dealt_out_by_the_time_they_take():
    program = Program(threads=3)
    program.call("testing.dealt", bound((1000, 2), np.int64), split=1000)
    (copy,) = program.instructions
    assert copy.chunks(3, instruction.MIN_STEALING_TIME - 1) == 3
    assert (
        copy.chunks(3, instruction.MAX_CHUNK_TIME // 2)
        == copy.chunks(3, 2 * instruction.MAX_CHUNK_TIME)
        == 3 * abi.MAX_PER_THREAD
    )
    assert copy.chunks(3, 9 * instruction.MAX_CHUNK_TIME) == 27
    assert copy.chunks(1, instruction.MAX_CHUNK_TIME // 2) == 1
    assert copy.chunks(1, 5 * instruction.MAX_CHUNK_TIME) == 5
    assert copy.chunks(3, 10_000 * instruction.MAX_CHUNK_TIME) == 1000
    assert copy.chunks(3) == 33


def compare_pools(monkeypatch, **settings):
    """Lets short work, too, be tried alone and with a pool; `settings` are others of the runner."""
    for name, value in {"MAX_COMPARED": 1 << 40, "COMPARISON_TIME": 0, **settings}.items():
        monkeypatch.setattr(plan_runner, name, value)


def test_little_work_is_not_shared(monkeypatch):
    monkeypatch.setattr(plan_runner, "MIN_SHARED", 1 << 40)
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    for _ in range(TRIALS + 1):
        program.run()
    assert np.unique(got, axis=0).tolist() == [[0, 1000]]


@pytest.mark.parametrize(("better", "chunks"), [(np.inf, 3), (0, 1)])
def test_a_pool_that_is_not_quicker_is_not_used(better, chunks, monkeypatch):
    monkeypatch.setattr(instruction, "MIN_STEALING_TIME", 1 << 40)
    compare_pools(monkeypatch, MIN_PROMISING=1 << 40, MAX_RATIO=better, RETRIES=())
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    for _ in range(TRIALS + plan_runner.WARM_TRIALS):
        program.run()
    n = plan_runner.MIN_COMPARISONS
    again = n if better else 0  # one that is quicker than the first runs has to stay so
    for tried in (*[1] * n, *[3] * n, *[1] * again, *[chunks] * 5):
        assert program.fast_run is None or tried == chunks
        program.run()
        assert len(np.unique(got, axis=0)) == tried
    assert program.fast_run is not None


def test_short_programs_are_timed_alone(monkeypatch):
    """What workers take to wake up is no time of an instruction."""
    monkeypatch.setattr(instruction, "MIN_PARALLEL_BYTES", 0)
    compare_pools(monkeypatch)
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    for chunks in (*[33] * TRIALS, *[1] * plan_runner.WARM_TRIALS):
        program.run()
        assert len(np.unique(got, axis=0)) == chunks


def test_runs_until_a_retry_are_one_native_call(monkeypatch):
    """Python that counts them or looks at the time costs as much as a pool could win."""
    compare_pools(monkeypatch, MIN_PROMISING=1 << 40, MAX_RATIO=0, RETRIES=(1 << 50,))
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: np.zeros((1000, 2), np.int64)})
    for _ in range(TRIALS + plan_runner.WARM_TRIALS + 2 * plan_runner.MIN_COMPARISONS):
        program.run()
    assert program.fast_run is not None
    assert program.fast_run()


@pytest.mark.parametrize(
    ("times", "shortest", "chunks"),
    [((9, 6, 9), 0, 3), ((9, 6, 6), 0, 1), ((9, 6, 9), 10, 1)],
    ids=["quicker", "only than the first runs", "too short to try"],
)
def test_a_pool_has_to_be_quicker_than_later_runs_too(times, shortest, chunks, monkeypatch):
    """Of a program whose runs alone take these nanoseconds at first, with a pool, and later."""
    n = plan_runner.MIN_COMPARISONS
    clock = np.cumsum([0, *(ns for time in times for _ in range(n) for ns in (time, 0))]).tolist()
    monkeypatch.setattr(instruction, "MIN_STEALING_TIME", 1 << 40)
    compare_pools(monkeypatch, RETRIES=())
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    for _ in range(TRIALS + plan_runner.WARM_TRIALS):
        program.run()
    monkeypatch.setattr(plan_runner, "MIN_SHARED", shortest)
    monkeypatch.setattr(plan_runner, "perf_counter_ns", iter(clock).__next__)
    for _ in range(3 * n + 1):
        program.run()
    assert len(np.unique(got, axis=0)) == chunks
    assert program.fast_run is not None


@pytest.mark.parametrize(("better", "chunks"), [(np.inf, 3), (0, 1)])
def test_a_pool_that_met_a_busy_moment_is_tried_again(better, chunks, monkeypatch):
    """It is not quicker at first, as when other processes run; then it is, or is not either."""
    monkeypatch.setattr(instruction, "MIN_STEALING_TIME", 1 << 40)
    compare_pools(monkeypatch, MAX_RATIO=0, RETRIES=(10,))
    monkeypatch.setattr(plan_runner, "perf_counter_ns", count().__next__)
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    n = plan_runner.MIN_COMPARISONS
    for _ in range(TRIALS + plan_runner.WARM_TRIALS + 2 * n):
        program.run()
    monkeypatch.setattr(plan_runner, "MAX_RATIO", better)
    again = n if better else 0
    for i, tried in enumerate((*[1] * 10, *[1] * n, *[3] * n, *[1] * again)):
        assert (program.fast_run is None) == (i > 10)
        program.run()
        assert len(np.unique(got, axis=0)) == tried
    program.run()
    assert len(np.unique(got, axis=0)) == chunks
    assert program.fast_run is not None


def test_a_pool_whose_workers_are_late_stays_and_is_tried_again(monkeypatch):
    """Its caller does everything, so that its times say nothing of a pool whose workers run."""
    monkeypatch.setattr(instruction, "MIN_STEALING_TIME", 1 << 40)
    compare_pools(monkeypatch, MIN_PROMISING=0, MAX_RATIO=0, RETRIES=(10, 10))
    monkeypatch.setattr(thread_pool, "_work_loop", lambda *_: None)
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    for _ in range(TRIALS + plan_runner.WARM_TRIALS):
        program.run()
    n = plan_runner.MIN_COMPARISONS
    monkeypatch.setattr(plan_runner, "perf_counter_ns", count().__next__)
    for tried in (*[1] * n, *[3] * (3 * n + 20)):
        program.run()
        assert len(np.unique(got, axis=0)) == tried
    program.run()
    assert program.fast_run is not None


def test_a_refused_run_decides_nothing(monkeypatch):
    """A run that ends early is no trial of a pool."""
    compare_pools(monkeypatch, MIN_PROMISING=1 << 40, MAX_RATIO=0, RETRIES=())
    program, x, out = Program(threads=2), bound((64,), i32), arena((64,), i32)
    program.call("testing.digits", x, out, split=64)
    program.keep(out)
    good, bad = np.zeros(64, i32), np.full(64, 10, i32)
    program.close({x: good})
    for _ in range(TRIALS + plan_runner.WARM_TRIALS + 2 * plan_runner.MIN_COMPARISONS):
        assert program.fast_run is None
        program.rebind(x, bad)
        with pytest.raises(Fault):
            program.run()
        program.rebind(x, good)
        program.run()
    assert program.fast_run is not None


def test_a_program_takes_another_pool_when_its_own_is_busy():
    """Two programs that have run with one pool run at once, and are right."""
    built = [chain(2, seed) for seed in (1, 2)]
    for _ in range(TRIALS + 1):
        for program, _ in built:
            program.run()
    wrong = []

    def loop(number):
        program, out = built[number]
        right = expected(4096, number + 1)
        for _ in range(300):
            program.array(out)[:] = 0
            if not program.fast_run():
                program.resume()
            if not np.array_equal(program.array(out), right):
                wrong.append(number)

    loops = [threading.Thread(target=loop, args=(i,)) for i in range(2)]
    for thread in loops:
        thread.start()
    for thread in loops:
        thread.join()
    assert wrong == []


def test_a_row_that_turned_out_short_is_not_shared(monkeypatch):
    monkeypatch.setattr(instruction, "MIN_PARALLEL_TIME", 1 << 40)
    got = np.zeros((1000, 2), np.int64)
    program, out = Program(threads=3), bound((1000, 2), np.int64)
    program.call("testing.dealt", out, split=1000)
    program.close({out: got})
    program.run()
    assert len(np.unique(got, axis=0)) == 33
    for _ in range(TRIALS):
        program.run()
    assert np.unique(got, axis=0).tolist() == [[0, 1000]]


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_the_first_fault_is_reported(n_threads):
    """Whichever chunk comes first in time, the lowest position is named; the next run is good."""
    n = 3000
    program, x, out = Program(threads=n_threads), bound((n,), i32), arena((n,), i32)
    program.tag = "here"
    program.call("testing.digits", x, out, split=n)
    program.keep(out)
    good = np.arange(n, dtype=i32) % 10
    program.close({x: good})
    rng = np.random.default_rng(n_threads)
    for _ in range(60):
        places = np.sort(rng.integers(0, n, 5))
        bad = good.copy()
        bad[places] = 10 + places
        program.rebind(x, bad)
        with pytest.raises(Fault) as caught:
            program.run()
        fault = caught.value
        assert (fault.tag, fault.i, fault.value) == ("here", places[0], 10 + places[0])
        program.rebind(x, good)
        program.run()
        assert np.array_equal(program.array(out), good)


def test_rows_after_a_fault_do_not_run():
    program, x, state = Program(threads=2), bound((64,), i32), bound((64,), i32)
    program.call("testing.digits", x, arena((64,), i32), split=64)
    program.call("testing.count", state, split=64)
    counts = np.zeros(64, i32)
    program.close({x: np.full(64, 11, i32), state: counts})
    for _ in range(5):
        with pytest.raises(Fault, match="got 11 at position 0"):
            program.run()
    assert not counts.any()


def spinning(n_threads, n_instructions, items, steps=1 << 34):
    """A program that runs for a minute or more."""
    program, out = Program(threads=n_threads), bound((items,), np.float64)
    for _ in range(n_instructions):
        program.call("testing.spin", out, turns=steps // n_instructions // items, split=items)
    program.close({out: np.zeros(items)})
    return program


@pytest.mark.usefixtures("sigint")
@pytest.mark.parametrize("shape", [(1000, 64), (1, 1 << 15)])
def test_ctrl_c_ends_a_long_run(shape):
    program = spinning(2, *shape)
    timer = threading.Timer(0.1, interrupt_main)
    timer.start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        program.run()
    timer.join()
    assert time.monotonic() - start < 20  # far from the end, however busy the machine


def test_an_interrupted_run_goes_on_where_it_was(monkeypatch):
    """Every chunk is run once though machine code comes back after each."""
    monkeypatch.setattr(plan_runner, "BUDGET", 0)
    program, state, calls = Program(threads=3), bound((1000,), i32), []
    for _ in range(5):
        program.call("testing.count", state, split=1000)
    counts = np.zeros(1000, i32)
    program.close({state: counts})
    for i in range(TRIALS + 3):
        program.run(check=lambda: calls.append(1))
        assert (counts == 5 * (i + 1)).all()
    assert len(calls) > 5 * (TRIALS + 3)


@pytest.mark.parametrize("budget", [0, 2000, 50_000_000])
@pytest.mark.parametrize("n_threads", [2, 4])
def test_rows_of_different_chunk_counts(n_threads, budget, monkeypatch):
    """Every item is done once per run however late a thread sees the next instruction."""
    monkeypatch.setattr(plan_runner, "BUDGET", budget)
    monkeypatch.setattr(instruction, "MAX_CHUNK_TIME", 1)  # as many chunks as items
    sizes = np.random.default_rng(budget).integers(1, 9, 60).tolist()
    program, states = Program(threads=n_threads), {n: bound((n,), i32) for n in range(1, 9)}
    for n in sizes:
        program.call("testing.count", states[n], split=n)
    counts = {n: np.zeros(n, i32) for n in states}
    program.close({states[n]: counts[n] for n in states})
    for i in range(2000):
        program.run()
        assert all((counts[n] == (i + 1) * sizes.count(n)).all() for n in states)


def test_profile_times_shared_rows():
    program, _ = chain(2, 0)
    times = program.run(profile=True)
    assert len(times) == 40
    assert all(seconds > 0 for _, _, seconds in times)


def test_idle_workers_use_no_time(alone):
    program, _ = chain(4, 0)
    for _ in range(TRIALS + 1):
        program.run()
    assert len(workers()) == 3
    time.sleep(0.1)
    before = time.process_time()
    time.sleep(0.5)
    assert time.process_time() - before < 0.25  # three workers that spin would use 0.5 or more


@pytest.mark.skipif(not AFFINITY, reason="workers are moved by system calls of Linux alone")
def test_workers_wake_up_elsewhere_and_may_run_where_the_caller_may(alone):
    """One processor of several is left to who wakes them, and all again once they are up."""
    program, _ = chain(2, 0)
    for _ in range(TRIALS + 1):
        program.run()
    (worker,) = workers()
    pool = program._segments[0]._pool
    slot = abi.SLOTS + abi.SLOT_WORDS
    assert wait_until(lambda: pool._state[slot + abi.SLEEP] == abi.ASLEEP)
    processors = os.sched_getaffinity(0)
    program.run()
    assert wait_until(lambda: os.sched_getaffinity(worker.native_id) == processors)
    words = pool._state[abi.PROCESSORS :][: 2 * abi.PROCESSOR_WORDS].view(np.uint8)
    mine, others = np.unpackbits(words, bitorder="little").reshape(2, -1)
    assert set(np.flatnonzero(mine).tolist()) == processors
    assert (mine - others).sum() == 1 if len(processors) > 1 else not others.any()


def test_fewer_threads_than_asked_for_will_do(alone, monkeypatch):
    def refuse(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    program, out = chain(4, 3)
    for _ in range(TRIALS + 1):
        program.run()
    assert np.array_equal(program.array(out), expected(4096, 3))


def test_thread_counts_are_checked():
    with pytest.raises(ValueError, match="threads must be at least 1, got 0"):
        Program(threads=0)
    program, out = chain(100_000, 5, n_instructions=2)
    assert program.threads == 100_000
    program.run()
    assert np.array_equal(program.array(out), expected(4096, 5, n_instructions=2))


def test_a_program_may_run_inside_another():
    """A host step runs a program of as many threads, as subgraphs do."""
    inner, result = chain(2, 4)
    outer, out = Program(threads=2), arena((4096,), f32)

    def step(array):
        inner.run()
        array[:] = inner.array(result)

    outer.host(step, [], [out])
    outer.call("testing.at_least", out, last := arena((4096,), f32), low=0.5, split=4096)
    outer.keep(last)
    outer.close()
    for _ in range(TRIALS + 2):
        outer.run()
    assert np.array_equal(outer.array(last), np.maximum(expected(4096, 4), f32(0.5)))
