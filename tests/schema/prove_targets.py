"""Converts corpus files for a target and runs them on the runtime itself; prints what came of it,
and where its answers are not ours.

    .venv/bin/python tests/schema/prove_targets.py tflm PYTHON [FOLDER]
    .venv/bin/python tests/schema/prove_targets.py tf-2.14 PYTHON [FOLDER]

PYTHON has the runtime, as for record_targets.py; FOLDER has .tflite files, by default tests/corpus.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from flatlite.errors import ConverterError, ModelError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema import model

CHILD = Path(__file__).with_name("runtime_child.py")
RUNTIMES = {"tflm": "tflite_micro"}
LARGEST = 1 << 19  # bytes of a file
LEVELS = 1  # by which integers may differ
TOLERANCE = 1e-3  # of the largest expected value
ROUNDING = 3e-2  # the same of quantized files


def trial(content: bytes) -> tuple[list[np.ndarray], list[np.ndarray]] | None:
    """Inputs that our interpreter takes, and its answers; None when there are none."""
    interpreter = Interpreter(model_content=content)
    generator = np.random.default_rng(0)
    arrays = []
    try:
        interpreter.allocate_tensors()
        for detail in interpreter.get_input_details():
            shape, dtype = detail["shape"], np.dtype(detail["dtype"])
            if dtype.kind == "f":
                array = generator.normal(size=shape).astype(dtype)
            elif dtype.kind in "iu":
                array = generator.integers(0, 3, shape).astype(dtype)
            elif dtype.kind == "b":
                array = generator.integers(0, 2, shape).astype(bool)
            else:
                return None
            interpreter.set_tensor(detail["index"], array)
            arrays.append(array)
        interpreter.invoke()
        details = interpreter.get_output_details()
        return arrays, [interpreter.get_tensor(detail["index"]) for detail in details]
    except (RuntimeError, ValueError):
        return None


def tolerance_of(content: bytes) -> float:
    """What a file's floats may differ by: more where it rounds to integers of few bits."""
    tensors = (t for graph in model.load(content).subgraphs for t in graph.tensors)
    return ROUNDING if any(t.quantization is not None for t in tensors) else TOLERANCE


def is_alike(expected: np.ndarray, actual: np.ndarray, tolerance: float) -> bool:
    """Whether two runtimes give the same but for rounding."""
    if expected.dtype.kind not in "iuf":
        return bool(np.array_equal(expected, actual))
    wide = expected.astype(np.float64)
    limit = LEVELS if expected.dtype.kind in "iu" else tolerance * np.abs(wide).max(initial=1e-3)
    return expected.shape == actual.shape and bool(
        np.allclose(actual, wide, rtol=0, atol=limit, equal_nan=True)
    )


def main(target: str, python: str, corpus: str = "tests/corpus") -> None:
    """Prints how many files were refused, how many of those written run, and those that do not."""
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    paths: dict[str, Path] = {}
    answers: dict[str, list[np.ndarray]] = {}
    tolerances: dict[str, float] = {}
    different = set()
    with tempfile.TemporaryDirectory() as folder:
        for number, path in enumerate(sorted(Path(corpus).rglob("*.tflite"))):
            if path.stat().st_size > LARGEST:
                continue
            content = path.read_bytes()
            forms = {"source": content}
            try:
                converter = TFLiteConverter.from_tflite_model(content)
                converter.target, converter.verify = target, False
                forms["written"] = converter.convert()
            except (ConverterError, ModelError, ValueError):
                outcomes["refused"] += 1
            for name, form in forms.items():
                tried = trial(form)
                if tried is None:
                    continue
                arrays, expected = tried
                stem = Path(folder, f"{number:05}{name}")
                answers[stem.name], tolerances[stem.name] = expected, tolerance_of(form)
                paths[stem.name] = path
                stem.with_suffix(".tflite").write_bytes(form)
                named: dict[str, Any] = {str(i): x for i, x in enumerate(arrays)}
                np.savez(stem.with_suffix(".npz"), **named)
        runtime = RUNTIMES.get(target, "tflite_runtime")
        command = [python, str(CHILD), runtime, folder]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        ran = set(printed.split())
        for stem in ran:
            results = np.load(Path(folder, f"{stem}.out.npz"))
            pairs = zip(answers[stem], (results[k] for k in results.files), strict=True)
            if not all(is_alike(*pair, tolerances[stem]) for pair in pairs):
                different.add(stem)
    for stem, path in paths.items():
        runs = stem in ran
        outcomes[f"{stem[5:]} {'runs' if runs else 'does not run'}"] += 1
        if stem in different:
            outcomes[f"{stem[5:]} differs"] += 1
            print(stem[5:], "differs", path)
        is_written = f"{stem[:5]}written" in paths
        if (stem.endswith("written") and not runs) or (runs and not is_written):
            kinds = [op.op for op in model.load(path.read_bytes()).subgraphs[0].operators]
            print(stem[5:], "runs" if runs else "does not run", path, kinds[:6])
    print(target, dict(outcomes))


if __name__ == "__main__":
    main(*sys.argv[1:])
