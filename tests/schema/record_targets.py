"""Writes what other runtimes run into schema/target_types.py: `make targets`.

    .venv/bin/python tests/schema/record_targets.py MICRO PYTHON
    .venv/bin/python tests/schema/record_targets.py TF_2_14 PYTHON

PYTHON has the runtime: the wheel tflite-micro, or tflite-runtime 2.14.0 with numpy 1. From every
case of tests/cases, types that LiteRT takes (schema/operator_types.py) are tried: the model runs
there, with results of our kernels. TensorFlow Lite Micro does not infer shapes, so a file states
those of its results, and many of its operators want constant operands: each model is tried with
constants for all operands but the first, and then with one of them as an input.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
import operator_starts
from operator_starts import Start
from record_operators import built, described, neighbours, one_each, same

from flatlite.lite import Interpreter
from flatlite.schema import model, operators

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "schema" / "target_types.py"
CHILD = Path(__file__).with_name("runtime_child.py")
RUNTIMES = {"MICRO": "tflite_micro", "TF_2_14": "tflite_runtime"}
MANY = 8  # operands and results of recurrent operators, whose types stay those of the case
MAX_STARTS = 2  # cases that the same types are tried with
TYPES = {"f32", "i8", "i16", "i32", "i64", "bool", "qi8", "qi16", "qi32", "qi64", "-"}
"""Those of models for small devices."""


def accepted(start: Start, row: operators.Operator) -> Iterator[tuple[str, ...]]:
    """The types that LiteRT takes, from those of a start on."""
    n = len(start.inputs)
    if len(start.codes) > MANY:
        yield start.codes
        return
    seen, todo = {start.codes}, [start.codes]
    indices = operator_starts.indices([start])
    for codes in todo:
        if row.accepts(codes[:n], codes[n:]) and TYPES.issuperset(codes):
            yield codes
            for other in neighbours(codes, indices):
                if other not in seen and TYPES.issuperset(other):
                    seen.add(other)
                    if row.accepts(other[:n], other[n:]):
                        todo.append(other)


def with_constants(content: bytes, feeds: list, computed: int) -> tuple[bytes, list] | None:
    """A model whose inputs are constants but for the first and `computed`, with stated shapes.

    None when our interpreter does not run it.
    """
    file = model.load(content)
    graph = file.subgraphs[0]
    try:
        interpreter = Interpreter(model_content=content)
        interpreter.allocate_tensors()
        for detail, array in zip(interpreter.get_input_details(), feeds, strict=True):
            interpreter.set_tensor(detail["index"], array)
        interpreter.invoke()
        for i in graph.outputs:
            graph.tensors[i].shape = interpreter.get_tensor(i).shape
    except (RuntimeError, ValueError, TypeError):
        return None
    inputs = list(graph.inputs)
    graph.inputs = [i for n, i in enumerate(inputs) if n in (0, computed)]
    for n, (i, array) in enumerate(zip(inputs, feeds, strict=True)):
        if n not in (0, computed):
            graph.tensors[i].data = array
    return model.save(file), [x for n, x in enumerate(feeds) if n in (0, computed)]


def models(kind: str) -> Iterator[tuple[tuple[str, ...], int, bytes, list]]:
    """(types, the operand that is no constant, model, inputs) of an operator."""
    row = operators.known(kind)
    tried_with: Counter[tuple[str, ...]] = Counter()
    for start in operator_starts.starts(kind):
        for codes in accepted(start, row):
            if tried_with[codes] >= MAX_STARTS and codes != start.codes:
                continue
            tried_with[codes] += 1
            content, feeds = built(start, codes)
            single = one_each(row, codes[: len(start.inputs)], codes[len(start.inputs) :])
            if single is None or any(x.dtype == object for x in feeds):
                continue
            n_computed = len(feeds) if codes == start.codes else 1
            for computed in range(max(n_computed, 1)):
                tried = with_constants(content, feeds, computed)
                if tried is not None:
                    operand = graph_input_position(content, computed) if feeds else 0
                    yield single, operand, *tried


def graph_input_position(content: bytes, number: int) -> int:
    """The operand that an input of a model of one operator is."""
    graph = model.load(content).subgraphs[0]
    return graph.operators[0].inputs.index(graph.inputs[number])


Tried = dict[str, tuple[str, tuple[str, ...], int]]
"""Name of a model -> its operator, types, and the operand that is no constant."""


def write_models(folder: str) -> Tried:
    """Writes all models with their inputs into a folder."""
    tried: Tried = {}
    numbers = count()
    for kind in operators.kinds():
        if kind.startswith("STABLEHLO_"):  # newer than both runtimes
            continue
        for codes, computed, content, feeds in models(kind):
            stem = f"{next(numbers):06}"
            tried[stem] = kind, codes, computed
            path = Path(folder, stem)
            path.with_suffix(".tflite").write_bytes(content)
            np.savez(path.with_suffix(".npz"), **{str(i): x for i, x in enumerate(feeds)})
    return tried


def record(name: str, python: str, folder: str, tried: Tried) -> str:
    """The rows of one runtime."""
    command = [python, str(CHILD), RUNTIMES[name], folder]
    ran = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    right = [stem for stem in ran if agrees(Path(folder, stem))]
    print(f"{name}: {len(tried)} models, {len(ran)} run, {len(right)} of them right")
    types: dict[str, set] = defaultdict(set)
    for stem in right:
        kind, codes, _ = tried[stem]
        types[kind].add(codes)
    computed_operands = {(tried[stem][0], tried[stem][2]) for stem in right}
    rows = []
    for kind in sorted(types):
        all_tried = {computed for k, _, computed in tried.values() if k == kind}
        constant = sorted(c for c in all_tried if (kind, c) not in computed_operands and c)
        suffix = f" ; constant={','.join(map(str, constant))}" if constant else ""
        rows.append(f"{kind} {described(types[kind])}{suffix}")
    return "\n".join(rows)


def agrees(path: Path) -> bool:
    """Whether the results of the runtime are those of our kernels."""
    stored, results = (np.load(path.with_suffix(s)) for s in (".npz", ".out.npz"))
    interpreter = Interpreter(model_content=path.with_suffix(".tflite").read_bytes())
    interpreter.allocate_tensors()
    for detail, key in zip(interpreter.get_input_details(), stored.files, strict=False):
        interpreter.set_tensor(detail["index"], stored[key])
    interpreter.invoke()
    ours = [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]
    theirs = [results[str(i)] for i in range(len(results.files))]
    return all(
        a.shape == b.shape and same(a, b.astype(a.dtype) if b.dtype.kind == "V" else b, 2)
        for a, b in zip(ours, theirs, strict=True)
    )


def main(*arguments: str) -> None:
    """Writes the rows of runtimes, NAME PYTHON for each, into the table."""
    with tempfile.TemporaryDirectory() as folder:
        tried = write_models(folder)
        for name, python in zip(arguments[::2], arguments[1::2], strict=True):
            rows = record(name, python, folder, tried)
            head, _, tail = TABLE.read_text().partition(f'{name} = r"""\n')
            tail = tail.partition('"""')[2]
            TABLE.write_text(f'{head}{name} = r"""\n{rows}\n"""{tail}')


if __name__ == "__main__":
    main(*sys.argv[1:])
