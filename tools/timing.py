"""How long a model runs, and each of its operators."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..interpreter.profile import profile
from ..schema.files import write_file
from .runnable import Flatbuffer
from .running import input_arrays
from .terminal import counted

PERCENTILES = (50, 90, 99)
N_PROFILED = 5  # profiled runs, of which the medians are shown


def benchmark(
    path: str,
    runs: int,
    warmup: int,
    threads: int,
    advance: Callable[[], Any] = lambda: None,
    delegates: Sequence[Any] | None = None,
    roofline: str | None = None,
) -> dict[str, Any]:
    """Times of `runs` invokes after `warmup` ones, in milliseconds, and those of each operator.

    `advance` is called after every invoke, for a progress bar. A delegate's partition is one
    operator. With `roofline`, what the machine can do at most is measured, too, and each operator's
    row says what it makes of that (roofline.py); unless empty, it names the .svg file to draw.
    """
    started = time.perf_counter()
    model = Flatbuffer(path, threads=threads, by_name=False, delegates=delegates)
    arrays = input_arrays(model, {})
    loaded = time.perf_counter()
    model.run(arrays)
    first = time.perf_counter()
    times = []
    for i in range(warmup + runs):
        start = time.perf_counter()
        model.interpreter.invoke()
        if i >= warmup:
            times.append(1e3 * (time.perf_counter() - start))
        advance()
    result = {
        "file": path,
        "threads": threads,
        "runs": runs,
        "inputs": {
            port.names[0]: list(a.shape) for port, a in zip(model.inputs, arrays, strict=True)
        },
        "load_ms": 1e3 * (loaded - started),
        "first_ms": 1e3 * (first - loaded),
        "mean_ms": float(np.mean(times)),
        "min_ms": min(times),
        **{f"p{p}_ms": float(np.percentile(times, p)) for p in PERCENTILES},
        "operators": profile_rows(model),
        **({"delegates": model.interpreter.delegate_report().as_dict()} if delegates else {}),
    }
    if roofline is not None:
        _add_roofline(result, model, roofline)
    return result


def _add_roofline(result: dict[str, Any], model: Flatbuffer, file: str) -> None:
    from ..engine.machine import measure
    from .roofline import picture, roofline_rows, summary

    limits = measure(result["threads"])
    result["operators"] = rows = roofline_rows(model.interpreter, result["operators"], limits)
    result["roofline"] = {
        "products": limits.products,
        "bandwidth": list(map(list, limits.bandwidth)),
        "whole": summary(rows),
    }
    if file:
        title = f"{Path(model.path).name}, {counted(limits.threads)}"
        write_file(file, picture(rows, limits, title).encode())


def profile_rows(model: Flatbuffer) -> list[dict[str, Any]]:
    """Milliseconds and share of each operator that runs, in the order of the model."""
    profiled = profile(model.interpreter, N_PROFILED)
    total = sum(row.seconds for row in profiled) or 1.0
    return [
        {
            "index": row.position,
            "operator": row.kind,
            "name": row.name,
            "ms": 1e3 * row.seconds,
            "share": row.seconds / total,
        }
        for row in profiled
    ]


def by_kind(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows of `profile_rows` summed by operator, the slowest first."""
    kinds: dict[str, dict[str, Any]] = {}
    for row in rows:
        kind_times = kinds.setdefault(
            row["operator"], {"operator": row["operator"], "count": 0, "ms": 0.0, "share": 0.0}
        )
        kind_times["count"] += 1
        kind_times["ms"] += row["ms"]
        kind_times["share"] += row["share"]
    return sorted(kinds.values(), key=lambda kind_times: -kind_times["ms"])
