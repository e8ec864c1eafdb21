"""Times the contestants on one model, interleaved in this process; run.py starts it.

    python benchmarks/measure.py MODEL.tflite VARIANT THREADS RUNS CALLS SECONDS

Prints one line of JSON. One thread is timed by its CPU time, more by the wall clock in alternating
blocks, each after a sleep in which the other contestant's spinning workers come to rest.
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import repeat
from pathlib import Path

from agreement import judge
from contestants import Contestant, Refusal

SHORTEST_SAMPLE = 2e-4  # seconds; faster models are called several times for one sample
BLOCK, DROPPED, PAUSE = 12, 3, 0.015  # calls in a block, its first ones not counted, sleep before
PLAIN_EVERY = 3  # LiteRT without delegates is slow and beside the point: fewer samples
FEWEST = 3


class Schedule:
    """How often each contestant is called, given what a call costs."""

    def __init__(self, costs: dict[str, float], runs: int, calls: int, seconds: float):
        self.loops = max(1, round(SHORTEST_SAMPLE / min(costs.values())))
        share = {name: 1 / PLAIN_EVERY if name == "plain" else 1 for name in costs}
        round_seconds = self.loops * sum(costs[name] * share[name] for name in costs)
        self.calls = max(FEWEST, min(calls, int(seconds / runs / round_seconds)))

    def names(self, names: list[str], turn: int) -> list[str]:
        """Who is called in round `turn`, the two of interest first in turn."""
        pair = [name for name in names if name != "plain"][:: -1 if turn % 2 else 1]
        return pair + (["plain"] if "plain" in names and turn % PLAIN_EVERY == 0 else [])


def one_sample(invoke: Callable[[], None], loops: int, clock: Callable[[], float]) -> float:
    """Seconds per call."""
    start = clock()
    for _ in repeat(None, loops):
        invoke()
    return (clock() - start) / loops


def single(contestants: dict[str, Contestant], plan: Schedule) -> dict[str, list[float]]:
    """CPU time of this thread, call by call."""
    samples = {name: [] for name in contestants}
    for turn in range(plan.calls):
        for name in plan.names(list(contestants), turn):
            invoke = contestants[name].invoke
            samples[name].append(one_sample(invoke, plan.loops, time.thread_time))
    return samples


def several(contestants: dict[str, Contestant], plan: Schedule) -> dict[str, list[float]]:
    """Wall clock, in blocks."""
    samples = {name: [] for name in contestants}
    dropped = DROPPED if plan.calls > BLOCK else 1
    counted = min(BLOCK - dropped, plan.calls)
    for turn in range(-(-plan.calls // counted)):
        for name in plan.names(list(contestants), turn):
            invoke = contestants[name].invoke
            time.sleep(PAUSE)
            taken = [
                one_sample(invoke, plan.loops, time.perf_counter) for _ in range(dropped + counted)
            ]
            samples[name] += taken[dropped:]
    return samples


def cost(invoke: Callable[[], None]) -> float:
    """Seconds a call takes about, after a warm-up of about 20 ms, without workers of others."""
    time.sleep(PAUSE)
    for calls in (1, 3, 30, 300):
        seconds = one_sample(invoke, calls, time.perf_counter)
        if seconds * calls > 0.02:
            break
    return seconds


def enter(name: str, path: Path, threads: int) -> Contestant | str:
    """A contestant that has run the model, or why it does not."""
    try:
        return Contestant(name, path, threads)
    except Refusal as refusal:
        return str(refusal)


def measure(path: Path, variant: str, threads: int, runs: int, calls: int, seconds: float) -> dict:
    """Agreement, and the median seconds per call of each contestant in each run."""
    entered = {name: enter(name, path, threads) for name in ("ours", "auto", "plain")}
    refusals = {name: one for name, one in entered.items() if isinstance(one, str)}
    contestants = {name: one for name, one in entered.items() if isinstance(one, Contestant)}
    if "ours" not in contestants or len(contestants) == 1:
        return {"refusals": refusals}
    answers = {name: contestant.outputs() for name, contestant in contestants.items()}
    result = {"refusals": refusals, "agreement": judge(path, variant, answers)}
    plan = Schedule({n: cost(c.invoke) for n, c in contestants.items()}, runs, calls, seconds)
    gc.collect()
    gc.disable()
    medians, process, thread = [], time.process_time(), time.thread_time()
    for _ in range(runs):
        samples = (single if threads == 1 else several)(contestants, plan)
        medians.append({name: statistics.median(taken) for name, taken in samples.items()})
    process, thread = time.process_time() - process, time.thread_time() - thread
    return result | {
        "calls": len(samples["ours"]),
        "medians": medians,
        "cpu_elsewhere": round(process / thread - 1, 3),
    }


if __name__ == "__main__":
    file, variant, *numbers = sys.argv[1:]
    threads, runs, calls = map(int, numbers[:3])
    print(json.dumps(measure(Path(file), variant, threads, runs, calls, float(numbers[3]))))
