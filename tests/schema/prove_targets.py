"""Converts corpus files for a target and runs them on the runtime itself; prints what came of it,
and where its results are not ours, and what was left out because no inputs were accepted.

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
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from flatlite.errors import ConverterError, ModelError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema import model

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from running import answers

CHILD = Path(__file__).with_name("runtime_child.py")
RUNTIMES = {"tflm": "tflite_micro"}
LARGEST = 1 << 19  # bytes of a file
LEVELS = 1  # by which integers may differ
TOLERANCE = 1e-3  # of the largest expected value
ROUNDING = 3e-2  # the same of quantized files
SIZES = (None, 8, 32, 64, 224)  # of what a file leaves open; None as it is written
MAX_DRAWS = 60  # inputs that a file may refuse


class Input(NamedTuple):
    """An input of a file, for which an array is drawn."""

    name: str
    dtype: np.dtype


Trial = tuple[list[np.ndarray], list[np.ndarray]]


def trial(content: bytes) -> Trial | str:
    """Inputs that our interpreter takes, and its results; what it says last when it takes none.

    Unknown sizes are as the file states them, else larger ones.
    """
    from flatlite.converter.verify.oracle import NotVerified
    from flatlite.converter.verify.trial_inputs import redrawn

    said = ""
    for size in SIZES:
        try:
            drawn = draw(content, size)
        except NotVerified as error:
            return str(error)
        for arrays in (drawn, *islice(redrawn(drawn), MAX_DRAWS)):
            tried = attempt(content, arrays)
            if not isinstance(tried, str):
                return tried
            said = tried
        if not has_unknown_sizes(content):
            break
    return said


def attempt(content: bytes, arrays: list[np.ndarray]) -> Trial | str:
    """Inputs and what our interpreter gives for them, or why it refuses them."""
    try:
        return arrays, results_of(content, arrays)
    except (RuntimeError, ValueError) as error:
        return str(error).partition("\n")[0]


def draw(content: bytes, size: int | None) -> list[np.ndarray]:
    """An array for each input, quantized ones of any value; open sizes are `size`, or as stated."""
    from flatlite.converter.verify.trial_inputs import random_array

    generator = np.random.default_rng(0)
    arrays = []
    for detail in Interpreter(model_content=content).get_input_details():
        dtype = np.dtype(detail["dtype"])
        tensor = Input(detail["name"], np.dtype(object) if dtype.kind == "S" else dtype)
        pairs = zip(detail["shape"], detail["shape_signature"], strict=True)
        shape = [int(n if known >= 0 or size is None else size) for n, known in pairs]
        if tensor.dtype.kind in "iu" and detail["quantization_parameters"]["scales"].size:
            limits = np.iinfo(tensor.dtype)
            values = generator.integers(limits.min, limits.max, shape, endpoint=True)
            arrays.append(values.astype(tensor.dtype))
        else:
            arrays.append(random_array(tensor, shape, generator))
    return arrays


def results_of(content: bytes, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """What our interpreter gives."""
    return answers(Interpreter(model_content=content), *arrays)


def has_unknown_sizes(content: bytes) -> bool:
    """Whether the file leaves sizes of inputs open."""
    details = Interpreter(model_content=content).get_input_details()
    return any((detail["shape_signature"] < 0).any() for detail in details)


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Texts as an array of bytes, which a file holds without pickling."""
    return array.astype(np.bytes_) if array.dtype.hasobject else array


def tolerance_of(content: bytes) -> float:
    """What a file's floats may differ by: more where it rounds to integers of few bits."""
    tensors = (t for graph in model.load(content).subgraphs for t in graph.tensors)
    return ROUNDING if any(t.quantization is not None for t in tensors) else TOLERANCE


def is_alike(expected: np.ndarray, actual: np.ndarray, tolerance: float) -> bool:
    """Whether two runtimes give the same but for rounding."""
    if expected.dtype.kind not in "iuf":
        return bool(np.array_equal(as_bytes(expected), as_bytes(actual)))
    wide = expected.astype(np.float64)
    largest = np.abs(wide[np.isfinite(wide)]).max(initial=1e-3)
    limit = LEVELS if expected.dtype.kind in "iu" else tolerance * largest
    return expected.shape == actual.shape and bool(
        np.allclose(actual, wide, rtol=0, atol=limit, equal_nan=True)
    )


def main(target: str, python: str, corpus: str = "tests/corpus") -> None:
    """Prints how many files were refused, how many of those written run, and those that do not."""
    warnings.simplefilter("ignore")
    outcomes: Counter[str] = Counter()
    paths: dict[str, Path] = {}
    expected_results: dict[str, list[np.ndarray]] = {}
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
            except (ConverterError, ModelError, ValueError) as error:
                outcomes["refused"] += 1
                print("refused", path, *map(str.strip, str(error).splitlines()[-2:]))
            for name, form in forms.items():
                tried = trial(form)
                if isinstance(tried, str):
                    outcomes[f"{name} takes no inputs drawn"] += 1
                    print(name, "takes no inputs drawn", path, tried)
                    continue
                arrays, expected = tried
                stem = Path(folder, f"{number:05}{name}")
                expected_results[stem.name], tolerances[stem.name] = expected, tolerance_of(form)
                paths[stem.name] = path
                stem.with_suffix(".tflite").write_bytes(form)
                named: dict[str, Any] = {str(i): as_bytes(x) for i, x in enumerate(arrays)}
                np.savez(stem.with_suffix(".npz"), **named)
        runtime = RUNTIMES.get(target, "tflite_runtime")
        command = [python, str(CHILD), runtime, folder]
        printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        ran = set(printed.split())
        for stem in ran:
            results = np.load(Path(folder, f"{stem}.out.npz"))
            pairs = zip(expected_results[stem], (results[k] for k in results.files), strict=True)
            if not all(is_alike(*pair, tolerances[stem]) for pair in pairs):
                different.add(stem)
    for stem, path in sorted(paths.items()):
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
