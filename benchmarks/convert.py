"""Time and memory of converting a SavedModel, beside TensorFlow's converter where it is installed.

    python benchmarks/convert.py [SAVED_MODEL] [--runs 3] [--tensorflow PYTHON]

Every conversion is a process of its own, imports included; the contestants take turns, and the
table shows medians. PYTHON is an interpreter that has TensorFlow (default: this one, if it has).
"""

import argparse
import importlib.util
import json
import platform
import statistics
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

DEFAULT = Path(__file__).parent.parent / "tests/corpus/C/mobilenet_v2_k3/saved_model"
OURS = """
import sys, flatlite.lite
converter = flatlite.lite.TFLiteConverter.from_saved_model(sys.argv[1])
converter.verify = {verify}
size = len(converter.convert())
"""
THEIRS = """
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
size = len(tf.lite.TFLiteConverter.from_saved_model(sys.argv[1]).convert())
"""
REPORT = """
import json, resource
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(json.dumps({"bytes": size, "megabytes": peak / 1024}))
"""


def once(python: str, script: str, source: str) -> dict:
    """One conversion in a process of its own: seconds, peak memory, bytes written."""
    start = time.perf_counter()
    done = subprocess.run(
        [python, "-c", script + REPORT, source], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - start
    return {"seconds": seconds, **json.loads(done.stdout.strip().splitlines()[-1])}


def main() -> None:
    """Measures and prints the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", nargs="?", default=str(DEFAULT))
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--tensorflow", metavar="PYTHON")
    arguments = parser.parse_args()
    contestants = {
        "flatlite, not verified": (sys.executable, OURS.format(verify=False)),
        "flatlite, verified": (sys.executable, OURS.format(verify=True)),
    }
    python = arguments.tensorflow or sys.executable
    if arguments.tensorflow or importlib.util.find_spec("tensorflow"):
        contestants["TensorFlow"] = (python, THEIRS)
    results = {name: [] for name in contestants}
    for _ in range(arguments.runs):
        for name, (python, script) in contestants.items():
            results[name].append(once(python, script, arguments.source))
    table = Table(title=f"{arguments.source}\n{platform.processor() or platform.machine()}")
    for heading in ("converter", "seconds", "peak MB", "bytes"):
        table.add_column(heading, justify="left" if heading == "converter" else "right")
    for name, runs in results.items():
        middle = {key: statistics.median(run[key] for run in runs) for key in runs[0]}
        cells = f"{middle['seconds']:.2f}", f"{middle['megabytes']:.0f}", f"{middle['bytes']:,.0f}"
        table.add_row(name, *cells)
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
