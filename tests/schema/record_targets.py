"""Writes what other runtimes run into schema/targets/types.py: `make targets`.

    .venv/bin/python tests/schema/record_targets.py MICRO PYTHON
    .venv/bin/python tests/schema/record_targets.py TF_2_14 PYTHON

PYTHON has the runtime: the wheel tflite-micro, or tflite-runtime 2.14.0 with numpy 1. From every
case of tests/cases, types that LiteRT takes (schema/operator_types.py) are tried: the model runs
there, with results of our kernels. TensorFlow Lite Micro does not infer shapes, so a file states
those of its results, and many of its operators want constant operands: each model is tried with
constants for all operands but the first, and then with one of them as an input. Of a loop, or a
file of tests/corpus, that the runtime runs it runs all operators.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import operator_starts
from building import Builder, save
from operator_starts import Start
from prove_targets import LARGEST, as_bytes, trial
from record_operators import ORDER, built, described, neighbours, one_each, same

from flatlite.lite import Interpreter
from flatlite.schema import model, operators

ROOT = Path(__file__).parents[2]
TABLE = ROOT / "schema" / "targets" / "types.py"
CHILD = Path(__file__).with_name("runtime_child.py")
RUNTIMES = {"MICRO": "tflite_micro", "TF_2_14": "tflite_runtime"}
ANY = "any"  # types: those of handles have no short names
MANY = 8  # operands and results of recurrent operators, whose types stay those of the case
MAX_STARTS = 2  # cases that the same types are tried with
TYPES = {
    *("f32", "f16", "i8", "u8", "i16", "i32", "i64", "u16", "u32", "u64", "bool"),
    *("f64", "c64", "c128", "str", "qi8", "qu8", "qi16", "qi32", "qi64", "-"),
}
"""Those that either runtime has kernels for."""


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
            prescribe(graph.operators[0].op, graph.tensors[i])
    except (RuntimeError, ValueError, TypeError):
        return None
    inputs = list(graph.inputs)
    graph.inputs = [i for n, i in enumerate(inputs) if n in (0, computed)]
    for n, (i, array) in enumerate(zip(inputs, feeds, strict=True)):
        if n not in (0, computed):
            graph.tensors[i].data = array
    return model.save(file), [x for n, x in enumerate(feeds) if n in (0, computed)]


def without_zeros(x: np.ndarray) -> np.ndarray:
    return np.where(x == 0, np.ones((), x.dtype), x)


def prescribe(kind: str, result: model.Tensor) -> None:
    """Gives a quantized result the scale that it always has, in place."""
    scale = operators.known(kind).scale_of(operators.SHORT[result.dtype])
    if result.quantization is not None and scale is not None:
        result.quantization = model.Quantization([scale[0]], [scale[1]])


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
            if single is None:
                continue
            n_computed = len(feeds) if codes == start.codes else 1
            for computed in range(max(n_computed, 1)):
                tried = with_constants(content, feeds, computed)
                if tried is None:  # a divisor may have become 0 as an integer
                    tried = with_constants(content, [without_zeros(x) for x in feeds], computed)
                if tried is not None:
                    operand = graph_input_position(content, computed) if feeds else 0
                    yield single, operand, *tried


def graph_input_position(content: bytes, number: int) -> int:
    """The operand that an input of a model of one operator is."""
    graph = model.load(content).subgraphs[0]
    return graph.operators[0].inputs.index(graph.inputs[number])


Tried = dict[str, list[tuple[str, tuple[str, ...], int]]]
"""Name of a model -> its operators, their types, and the operand that is no constant, or -1."""


def loop() -> bytes:
    """A model of one WHILE, which counts to 4 and doubles a vector each time."""
    body, condition, main = Builder("body"), Builder("condition"), Builder("main")
    ends = [("i", (1,), "INT32"), ("x", (3,), "INT32")]
    i, x = (body.input(*end) for end in ends)
    following, y = (body.tensor(f"{name}_next", *more) for name, *more in ends)
    body.op("ADD", [i, body.constant("one", np.int32([1]))], [following])
    body.op("ADD", [x, x], [y])
    i, _ = (condition.input(*end) for end in ends)
    flag = condition.tensor("flag", (1,), "BOOL")
    condition.op("LESS", [i, condition.constant("n", np.int32([4]))], [flag])
    inputs = [main.input(*end) for end in ends]
    results = [main.tensor(f"{name}_out", *more) for name, *more in ends]
    main.op("WHILE", inputs, results, cond_subgraph_index=1, body_subgraph_index=2)
    return save(main.outputs(*results), condition.outputs(flag), body.outputs(following, y))


def whole_models() -> Iterator[tuple[list[tuple[str, tuple[str, ...], int]], bytes, list]]:
    """(operators, model, inputs) of a loop and the small files of tests/corpus."""
    paths = sorted((ROOT / "tests/corpus").rglob("*.tflite"))
    for content in (loop(), *(path.read_bytes() for path in paths)):
        if len(content) > LARGEST or isinstance(tried := trial(content), str):
            continue
        used = [
            (op.op, types, -1)
            for graph in model.load(content).subgraphs
            for op in graph.operators
            if op.op != "CUSTOM" and (types := types_of(graph, op)) is not None
        ]
        yield used, content, tried[0]


def types_of(graph: model.Subgraph, op: model.Operator) -> tuple[str, ...] | None:
    """The types of an operator of a file, as a row has them."""
    codes = ["-" if i < 0 else code_of(graph.tensors[i]) for i in (*op.inputs, *op.outputs)]
    n = len(op.inputs)
    row = operators.known(op.op)
    codes[n:n] = ["-"] * max(0, len([x for x in row.operands if not x.is_variadic]) - n)
    n = len(codes) - len(op.outputs)
    return one_each(row, tuple(codes[:n]), tuple(codes[n:]))


def code_of(tensor: model.Tensor) -> str:
    """The type of a tensor of a file, as a row has it."""
    has_scales = tensor.quantization is not None and len(tensor.quantization.scales) > 0
    return "q" * has_scales + operators.SHORT.get(tensor.dtype, tensor.dtype.lower())


def write_models(folder: str) -> Tried:
    """Writes all models with their inputs into a folder."""
    tried: Tried = {}

    def add(used: list, content: bytes, feeds: list) -> None:
        path = Path(folder, f"{len(tried):06}")
        tried[path.name] = used
        path.with_suffix(".tflite").write_bytes(content)
        np.savez(path.with_suffix(".npz"), **{str(i): as_bytes(x) for i, x in enumerate(feeds)})

    for kind in operators.kinds():
        if kind.startswith("STABLEHLO_"):  # newer than both runtimes
            continue
        for codes, computed, content, feeds in models(kind):
            add([(kind, codes, computed)], content, feeds)
    for used, content, feeds in whole_models():
        add(used, content, feeds)
    return tried


def record(name: str, python: str, folder: str, tried: Tried) -> str:
    """The rows of one runtime."""
    command = [python, str(CHILD), RUNTIMES[name], folder]
    ran = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    right = [stem for stem in ran if agrees(Path(folder, stem))]
    print(f"{name}: {len(tried)} models, {len(ran)} run, {len(right)} of them right")
    types: dict[str, set] = defaultdict(set)
    for stem in right:
        for kind, codes, _ in tried[stem]:
            types[kind].update({codes} if set(ORDER).issuperset(codes) else ())
    computed_operands = {(kind, operand) for stem in right for kind, _, operand in tried[stem]}
    rows = []
    for kind in sorted(types):
        all_tried = {operand for used in tried.values() for k, _, operand in used if k == kind}
        constant = sorted(c for c in all_tried if (kind, c) not in computed_operands and c > 0)
        suffix = f" ; constant={','.join(map(str, constant))}" if constant else ""
        rows.append(f"{kind} {described(types[kind]) or ANY}{suffix}")
    return "\n".join(rows)


def agrees(path: Path) -> bool:
    """Whether the results of the runtime are those of our kernels."""
    inputs, results = (np.load(path.with_suffix(s)) for s in (".npz", ".out.npz"))
    interpreter = Interpreter(model_content=path.with_suffix(".tflite").read_bytes())
    interpreter.allocate_tensors()
    for detail, key in zip(interpreter.get_input_details(), inputs.files, strict=False):
        interpreter.set_tensor(detail["index"], inputs[key])
    interpreter.invoke()
    details = interpreter.get_output_details()
    ours = [as_bytes(interpreter.get_tensor(d["index"])) for d in details]
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
