"""Runs fuzzers for a time, shrinks what fails and prints how to repeat it.

`make test` runs the first SHARE cases that each fuzzer draws from SEED, the same ones on every
machine and for every commit; `make fuzz` draws from new seeds each time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from importlib import import_module
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SHRINK_SECONDS = 30
SEED = 1
"""What `make test` draws from; raise it by one for other cases, when all of them pass."""
COUNT = 1000
"""Cases of a seed before the next one."""


@dataclass(frozen=True)
class Failure:
    """A case whose verdict is none that passes."""

    fuzzer: Any
    address: str
    case: Any
    verdict: Any

    def __str__(self):
        return (
            f"{name_of(self.fuzzer)} {self.address}: {self.verdict.kind}: {self.verdict.text}\n"
            f"repeat: python tests/fuzz {name_of(self.fuzzer)} {self.address}"
        )


def fuzzers() -> list[Any]:
    """The modules of this folder that define `cases`."""
    names = [p.stem for p in sorted(HERE.glob("*.py")) if "\ndef cases(" in p.read_text()]
    return [import_module(f"fuzz.{name}") for name in names]


def name_of(fuzzer) -> str:
    """A fuzzer's name on the command line."""
    return fuzzer.__name__.rpartition(".")[2]


def hunt(fuzzer, seed: int, count: int, end: float, counts: Counter) -> Iterator[Failure]:
    """The failures among the first `count` cases of a seed, until time `end`."""
    for number, case in enumerate(islice(fuzzer.cases(seed), count)):
        if time.monotonic() > end:
            return
        verdict = fuzzer.check(case)
        counts[verdict.kind] += 1
        if verdict.kind not in fuzzer.PASSES:
            yield Failure(fuzzer, f"{seed}/{number}", case, verdict)


def shrink(failure: Failure, seconds: float = SHRINK_SECONDS) -> Failure:
    """The same kind of failure in as small a case as greed finds."""
    fuzzer, case, verdict = failure.fuzzer, failure.case, failure.verdict
    end = time.monotonic() + seconds
    smallest = case
    while smallest is not None:
        case = smallest
        smallest = None
        for candidate in fuzzer.smaller(case):
            if time.monotonic() > end:
                break
            outcome = fuzzer.check(candidate)
            if outcome.kind == verdict.kind:
                smallest, verdict = candidate, outcome
                break
    return Failure(fuzzer, failure.address, case, verdict)


def describe(failure: Failure, small: Failure) -> str:
    """What failed, and the text of its smallest form."""
    fuzzer = failure.fuzzer
    shown = f"smallest: {fuzzer.line(small.case)}\n{small.verdict.text}"
    return f"{failure}\n{shown}\n\n{fuzzer.script(small.case)}\n"


def brief(failure: Failure) -> str:
    """A failure in two lines."""
    fuzzer, verdict = failure.fuzzer, failure.verdict
    text = verdict.text.partition("\n")[0]
    head = f"{name_of(fuzzer)} {failure.address}: {verdict.kind}: {text}"
    return f"{head}\n    {fuzzer.line(failure.case)}"


def main(arguments=None) -> int:
    """The command line; 1 when anything failed."""
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("what", nargs="*", help="fuzzers, all without; SEED/NUMBER: one case")
    parser.add_argument("--seeds", default="", help="A..B, both included; A..: no end; else new")
    parser.add_argument("--count", type=int, default=COUNT, help="cases of each seed")
    parser.add_argument("--seconds", type=float, help="time for each fuzzer; else 60, A..B: no end")
    parser.add_argument(
        "--stop", type=int, help="failures after which it ends; else 10, A..B: none"
    )
    parser.add_argument("--processes", type=int, default=1, help="among which seeds are shared")
    parser.add_argument("--brief", action="store_true", help="two lines for a failure")
    inputs = parser.parse_args(arguments)
    named = [w for w in inputs.what if "/" not in w]
    chosen = [f for f in fuzzers() if not named or name_of(f) in named]
    if unknown := set(named) - {name_of(f) for f in chosen}:
        parser.error(f"fuzzers are {[name_of(f) for f in fuzzers()]}, got {sorted(unknown)}")
    addresses = [w for w in inputs.what if "/" in w]
    try:
        if addresses:
            return max([_repeat(f, a) for f in chosen for a in addresses])
        return max([_campaign(f, inputs) for f in chosen])
    finally:
        for fuzzer in chosen:
            fuzzer.close()


@dataclass(frozen=True)
class _Share:
    """What one process does of a campaign: every `step`th seed from `first` to `last`.

    Attributes:
        seconds: after which it ends, as it does after `stop` failures.
    """

    name: str
    first: int
    last: float
    step: int
    count: int
    seconds: float
    stop: float
    brief: bool


def _campaign(fuzzer, options) -> int:
    first, _, last = (options.seeds or f"{secrets.randbelow(10**9)}..").partition("..")
    seconds, stop = (inf, inf) if last else (60.0, 10)
    seconds = seconds if options.seconds is None else options.seconds
    stop = stop if options.stop is None else options.stop
    end, name, n = float(last or inf), name_of(fuzzer), options.processes
    print(f"{name}: seeds from {first}, {options.count} cases of each", flush=True)
    shares = [
        _Share(name, int(first) + k, end, n, options.count, seconds, stop, options.brief)
        for k in range(n)
    ]
    if n == 1:
        results = [_run(fuzzer, shares[0])]
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(n, mp_context=context) as pool:
            results = list(pool.map(_run_alone, shares))
    counts = sum((counts for counts, _ in results), Counter())
    kinds = ", ".join(f"{kind} {n}" for kind, n in counts.most_common())
    print(f"{name}: {sum(counts.values())} cases: {kinds}", flush=True)
    return int(any(failed for _, failed in results))


def _run_alone(share: _Share) -> tuple[Counter, int]:
    """A share in a process of its own."""
    fuzzer = import_module(f"fuzz.{share.name}")
    try:
        return _run(fuzzer, share)
    finally:
        fuzzer.close()


def _run(fuzzer, share: _Share) -> tuple[Counter, int]:
    """Prints the failures of a share; how often each verdict came, and how many failed."""
    seed, counts, failed = share.first, Counter(), 0
    end = time.monotonic() + share.seconds
    while time.monotonic() < end and seed <= share.last and failed < share.stop:
        for failure in hunt(fuzzer, seed, share.count, end, counts):
            failed += 1
            small = shrink(failure)
            print(brief(small) if share.brief else describe(failure, small), flush=True)
            if failed >= share.stop:
                break
        seed += share.step
    return counts, failed


def _repeat(fuzzer, address) -> int:
    seed, _, number = address.partition("/")
    case = next(islice(fuzzer.cases(int(seed)), int(number), None))
    verdict = fuzzer.check(case)
    failure = Failure(fuzzer, address, case, verdict)
    if verdict.kind in fuzzer.PASSES:
        print(f"{name_of(fuzzer)} {address}: {verdict.kind} {verdict.text}")
        return 0
    print(describe(failure, shrink(failure)))
    return 1
