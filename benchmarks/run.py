"""Compares flatlite with LiteRT: speed, start, memory. `make bench` runs it.

    python benchmarks/run.py [--models NAME,...] [--variants int8,...] [--threads 1,2] [--runs 3]
        [--calls 100] [--seconds 110] [--starts 15] [--json FILE] [--markdown] [--show FILE]
    python benchmarks/run.py --against COMMIT [--models ...] [--saved-models FOLDER ...]

The second form compares this checkout with an earlier one: models, conversions and starts in turns.

Reads the models that models/build.py has written. Ratios are LiteRT / ours: above 1 flatlite is
faster, or smaller. Each model is timed in a process of its own, where the contestants take turns:
medians of RUNS x CALLS calls, fewer for models that would take longer than SECONDS per number of
threads.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

import against
from contestants import LITERT, OURS
from report import show
from rich.console import Console

HERE = Path(__file__).parent
VARIANTS = ("float32", "dynamic", "int8", "int16x8")
STARTING = "mobilenet_v1"  # the model whose start is measured, where it is among the models
LIMIT = 600  # seconds for one process


def child(script: str, *arguments: object, **environment: str) -> subprocess.CompletedProcess:
    """Runs a script of this folder to its end.

    Raises CalledProcessError or TimeoutExpired.
    """
    return subprocess.run(
        [sys.executable, str(HERE / script), *map(str, arguments)],
        capture_output=True,
        text=True,
        check=True,
        timeout=LIMIT,
        env={**os.environ, **environment},
    )


def failure(error: subprocess.SubprocessError) -> dict[str, str]:
    """What stands in a report in place of a child's figures."""
    if not isinstance(error, subprocess.CalledProcessError):
        return {"failed": f"not done after {LIMIT} s"}
    lines = error.stderr.strip().splitlines() or ["no message"]
    return {"failed": f"exit code {error.returncode}: {lines[-1]}"}


def measured(path: Path, variant: str, threads: int, options: argparse.Namespace) -> dict:
    """What measure.py says of one model, or why it says nothing."""
    numbers = (options.runs, options.calls, options.seconds)
    try:
        return json.loads(child("measure.py", path, variant, threads, *numbers).stdout)
    except subprocess.SubprocessError as error:
        return failure(error)


def started(library: str, path: Path, **environment: str) -> dict[str, float]:
    """One start: wall and CPU seconds from process start to first result, resident bytes.

    Bytecode is kept, as it is where pip has installed a package.
    """
    environment = {"PYTHONDONTWRITEBYTECODE": "", **environment}
    began = time.perf_counter()
    words = child("start.py", *([library, path] if library else []), **environment).stdout.split()
    return {"wall": float(words[0]) - began, "cpu": float(words[1]), "bytes": int(words[2])}


def memory(path: Path) -> dict:
    """Resident bytes after the first invoke, medians of three processes each."""
    try:
        return {
            name: statistics.median(started(library, path)["bytes"] for _ in range(3))
            for name, library in (("ours", OURS), ("auto", LITERT))
        }
    except subprocess.SubprocessError as error:
        return failure(error)


def starts(path: Path, rounds: int) -> dict:
    """Median seconds of ours and LiteRT above `import numpy`, warm; ours once with no cache."""
    taken = {"": [], OURS: [], LITERT: []}
    try:
        for turn in range(rounds + 1):
            for library in list(taken) if turn % 2 else reversed(list(taken)):
                taken[library].append(started(library, path))
        with tempfile.TemporaryDirectory() as folder:
            cold = started(OURS, path, FLATLITE_CACHE=os.path.join(folder, "cache"))
    except subprocess.SubprocessError as error:
        return failure(error)
    middle = {
        library: {k: statistics.median(one[k] for one in runs[1:]) for k in ("wall", "cpu")}
        for library, runs in taken.items()
    }
    base = middle.pop("")
    names = {"ours": middle[OURS], "auto": middle[LITERT], "cold": cold}
    return {name: {k: one[k] - base[k] for k in base} for name, one in names.items()}


def machine(folder: Path, built: dict) -> dict:
    """Where and when this is measured, and with which versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    model = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    packages = ("flatlite", "ai-edge-litert", "numpy", "numba", "llvmlite")
    return {
        "cpu": f"{os.cpu_count()} x {model[0] if model else platform.machine()}",
        "date": datetime.date.today().isoformat(),
        "python": platform.python_version(),
        "versions": {package: version(package) for package in packages},
        "models": built.get("recipe", str(folder)),
        "load": [round(os.getloadavg()[0], 1)],
    }


def measure_all(options: argparse.Namespace, console: Console) -> dict:
    """Everything the options ask for; `--json` has it after each file."""
    record = options.folder / "built.json"
    built = json.loads(record.read_text()) if record.exists() else {}
    known = built.get("models") or {
        path.stem.rpartition("_")[0]: {} for path in sorted(options.folder.glob("*.tflite"))
    }
    names = options.models or list(known)
    if missing := [name for name in names if name not in known]:
        raise SystemExit(f"no model {', '.join(missing)} in {options.folder}: run models/build.py")
    report = {"machine": machine(options.folder, built), "options": vars(options).copy()}
    report["options"]["folder"] = str(options.folder)
    report["results"] = []
    with console.status("") as status:
        for name in names:
            for variant in options.variants:
                path = options.folder / f"{name}_{variant}.tflite"
                status.update(f"{name} {variant}")
                result = {"model": name, "variant": variant}
                if path.exists():
                    result |= one_model(path, name, variant, options)
                else:
                    why = known[name].get(variant, {}).get("refused", "there is no such file")
                    result["absent"] = why
                report["results"].append(result)
                report["machine"]["load"][1:] = [round(os.getloadavg()[0], 1)]
                if options.json:
                    options.json.write_text(json.dumps(report, indent=1, default=str) + "\n")
    return report


def one_model(path: Path, name: str, variant: str, options: argparse.Namespace) -> dict:
    """Speed at each number of threads, memory and start of one file."""
    threads = {str(n): measured(path, variant, n, options) for n in options.threads}
    result = {"threads": threads}
    if any("medians" in one for one in threads.values()):
        result["memory"] = memory(path)
        if name == STARTING and options.starts:
            result["start"] = starts(path, options.starts)
    return result


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""

    def words(text: str) -> list[str]:
        return text.split(",")

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=HERE.parent / "build/benchmarks")
    parser.add_argument("--models", type=words, help="names, with commas; default: all")
    parser.add_argument("--variants", type=words, default=list(VARIANTS))
    parser.add_argument("--threads", type=lambda t: list(map(int, t.split(","))), default=[1, 2])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--calls", type=int, default=100, help="of each contestant in a run")
    parser.add_argument("--seconds", type=float, default=110, help="per file and thread number")
    parser.add_argument("--starts", type=int, default=15, help="processes per start figure")
    parser.add_argument(
        "--json", type=Path, metavar="FILE", help="write all figures here as they come"
    )
    parser.add_argument("--markdown", action="store_true", help="print tables as in the README")
    parser.add_argument("--show", type=Path, metavar="FILE", help="print an earlier --json again")
    parser.add_argument("--against", metavar="COMMIT", help="compare with a commit, not LiteRT")
    parser.add_argument("--saved-models", nargs="*", default=[], help="to convert, with --against")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """Measures and prints the tables."""
    options = parse(arguments)
    if options.against:
        return against.main(options)
    if options.show:
        report = json.loads(options.show.read_text())
    else:
        report = measure_all(options, Console(stderr=True))
    return show(report, options.markdown)


if __name__ == "__main__":
    main()
