"""One checkout of flatlite in a process of its own, which does on request what is to be timed.

    python benchmarks/checkout.py ROOT        then, line by line, on standard input:

    {"do": "open", "path": ..., "threads": 1}   loads a model with inputs of seeded numbers
    {"do": "invoke", "calls": 10}               runs it
    {"do": "convert", "path": ...}              converts a SavedModel, without verification

Each answer is a line with the seconds that each call took.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np


class Finder:
    """Finds `flatlite` in a folder, whatever is installed."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def find_spec(self, name, path=None, target=None):
        if name != "flatlite":
            return None
        return importlib.util.spec_from_file_location(
            name, self.root / "__init__.py", submodule_search_locations=[str(self.root)]
        )


class Checkout:
    """What the process has open."""

    def __init__(self) -> None:
        from flatlite import lite

        self.lite, self.interpreter = lite, None

    def open(self, path: str, threads: int) -> list[float]:
        self.interpreter = self.lite.Interpreter(model_path=path, num_threads=threads)
        self.interpreter.allocate_tensors()
        rng = np.random.default_rng(0)
        for detail in self.interpreter.get_input_details():
            values = rng.uniform(-1, 1, detail["shape"])
            if detail["dtype"] != np.float32:
                values = rng.integers(0, 100, detail["shape"])
            self.interpreter.set_tensor(detail["index"], values.astype(detail["dtype"]))
        return self.invoke(3)

    def invoke(self, calls: int) -> list[float]:
        return [timed(self.interpreter.invoke) for _ in range(calls)]

    def convert(self, path: str) -> list[float]:
        converter = self.lite.TFLiteConverter.from_saved_model(path)
        converter.verify = False
        return [timed(converter.convert)]


def timed(action) -> float:
    """Seconds that an action takes."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def main(root: str) -> None:
    """Answers until its input ends."""
    sys.meta_path.insert(0, Finder(Path(root)))
    warnings.simplefilter("ignore")
    checkout = Checkout()
    for line in sys.stdin:
        request = json.loads(line)
        print(json.dumps(getattr(checkout, request.pop("do"))(**request)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
