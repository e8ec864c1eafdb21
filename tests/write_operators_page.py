"""Writes docs/operators.md: `python tests/write_operators_page.py`.

The types of an operator are those that its `prepare` takes, asked with the operands of a case of
tests/cases in each type; of operators without a case, those of the files in the tests. They are of
its data: of the operand whose type the first result has, or else of the first one.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from flatlite.engine.plan.buffer import arena
from flatlite.engine.plan.program import Program
from flatlite.interpreter.plan.node import (
    DynamicResult,
    NeedsValue,
    Node,
    Operand,
    TensorDeclaration,
)
from flatlite.interpreter.plan.planner import REFUSALS
from flatlite.interpreter.registry import family_of, prepare_of
from flatlite.lite import Interpreter
from flatlite.schema import model, operators, runtime_versions
from flatlite.schema.dtypes import TENSOR_TYPES, tensor_type
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.quantization import Quantization
from flatlite.schema.tables import name_of
from flatlite.schema.targets.versions import operator_version

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS / "support"))

import operator_starts  # noqa: E402 - from the folder above
from declared import examples  # noqa: E402
from operator_facts import runs_of  # noqa: E402
from operator_starts import Start, retyped  # noqa: E402
from recurrent_models import SORTS, content  # noqa: E402

PAGE = TESTS.parent / "docs" / "operators.md"
CODES = (
    *("f32", "f16", "bf16", "f8e4m3", "f8e5m2", "f64"),
    *("i4", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"),
    *("bool", "str", "c64", "c128", "qi4", "qi8", "qu8", "qi16"),
)
HANDLES = ("variable", "table")
"""What operands are called that are resources."""
WITHOUT_FAMILY = {
    "CUSTOM": "whatever the operator registered under its name takes",
    "DELEGATE": "refused: stands for a delegate's partition, in no file",
    "PLACEHOLDER_FOR_GREATER_OP_CODES": "refused: stands for codes above 126",
}
"""What the table says of operators that have no family."""
HEAD = """\
# Operators

Every builtin operator of TensorFlow Lite, the versions that runtimes know of it, and the types that
flatlite's interpreter takes, each with the version of the operator that a file with it needs (none:
1). They are those of the operand whose type the result has, such as the value of FILL and the input
of TRANSPOSE_CONV, or else of the first one. tests/write_operators_page.py writes this table from
schema/operator_table.py, schema/targets/version_rules.py and by asking each `prepare`; a test
holds it current.

`q` before a type: with scales; f, bf: floats (f8e4m3: FLOAT8_E4M3FN); i, u: integers; c: complex;
str: strings. Floats of one and two bytes are computed in float32 and rounded once; strings go
wherever elements only move. An operator that calls subgraphs takes whatever they take.

What a file says holds in every version: an option that a later version brought counts in an earlier
one, too, as in LiteRT's kernels. A file with another version than these is refused when it is
opened, in LiteRT's words: `Didn't find op for builtin opcode 'RELU' version '99'. An older version
of this builtin might be supported. ...`. So is an operator without a family, which stands for
something else. CONCAT_EMBEDDINGS, of which no definition is public, is what a class registered
under its name computes, and STABLEHLO_CUSTOM_CALL what its target's name says ([custom
operators](custom_ops.md)).

| operator | family | versions | types |
|---|---|---|---|
"""


def page() -> str:
    """The text of the page."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        seen = types_of_files()
        lines = [line_of(kind, seen) for kind in operators.kinds()]
    return HEAD + "\n".join(lines) + "\n"


def line_of(kind: str, seen: dict[str, set[str]]) -> str:
    """The row of one operator."""
    family = family_of(kind)
    known = runtime_versions.known_versions(kind)
    versions = f"{known[0]}-{known[-1]}" if len(known) > 1 else str(known[0])
    if not family:
        return f"| {kind} | - | {versions} | {WITHOUT_FAMILY[kind]} |"
    row = operators.known(kind)
    taken = dict.fromkeys(seen.get(kind, ()), 1) | accepted(kind)
    if row.operands and row.operands[0].name in HANDLES:
        taken = {"res": 1}
    types = " ".join(
        f"{code}:{taken[code]}" if taken[code] > 1 else code
        for code in (*CODES, "res")
        if code in taken
    )
    if row.calls:
        types = "those of its subgraphs"
    elif kind == "CONCAT_EMBEDDINGS":
        types = "those of the class registered under its name"
    elif not row.operands:
        types = "no operands"
    return f"| {kind} | {family} | {versions} | {types} |"


def data_place(kind: str) -> int:
    """The operand whose type the first result has, or else the first one."""
    row = operators.known(kind)
    names = [operand.name for operand in row.operands]
    type_of_result = row.results[0].type if row.results else ""
    return names.index(type_of_result) if type_of_result in names else 0


def accepted(kind: str) -> dict[str, int]:
    """The types of its data that `prepare` takes in a case, and the lowest version."""
    counts: dict[str, int] = {}
    starts = operator_starts.starts(kind)
    place = data_place(kind)
    indices = operator_starts.indices(starts) - {place}
    for start in starts:
        for code in CODES:
            for codes in spread(start, place, indices, code):
                if takes(start, codes):
                    needed = version(start, codes)
                    counts[code] = min(counts.get(code, needed), needed)
                    break
    return counts


def spread(
    start: Start, place: int, indices: frozenset[int], code: str
) -> Iterator[tuple[str, ...]]:
    """The start's types with `code` in place of one: everywhere, or there alone."""
    old, n = start.codes[place], len(start.inputs)
    yield tuple(code if c == old and i not in indices else c for i, c in enumerate(start.codes))
    yield tuple(code if i == place else c for i, c in enumerate(start.codes))
    yield tuple(
        code if i == place or (c == old and i >= n - 1) else c for i, c in enumerate(start.codes)
    )


def takes(start: Start, codes: tuple[str, ...]) -> bool:
    """Whether `prepare` takes these types and the kernels it names do."""
    n = len(start.inputs)
    outputs = [
        TensorDeclaration(f"out{i}", dtype_of(code), quantization(start, i, code))
        for i, code in enumerate(codes[n:], n)
    ]
    options = start.options(codes)
    if options is None and (default := options_class(start.kind)) is not None:
        options = default()
    for is_known in (False, True):
        inputs = [operand(start, i, code, is_known) for i, code in enumerate(codes[:n])]
        node = Node(start.kind, inputs, outputs, options)
        try:
            prepared = prepare_of(start.kind)(node)
            if prepared is not None and not isinstance(prepared, DynamicResult):
                prepared(Program())
        except NeedsValue:
            continue
        except REFUSALS:
            return False
        return True
    return False


def version(start: Start, codes: tuple[str, ...]) -> int:
    """The version of the operator that a file with these types needs."""
    tensors = [
        None
        if code == "-"
        else model.Tensor(
            dtype=operators.TYPES[code.removeprefix("q")],
            shape=() if place >= len(start.inputs) else np.shape(start.inputs[place]),
            quantization=quantization(start, place, code),
        )
        for place, code in enumerate(codes)
    ]
    n = len(start.inputs)
    options = start.options(codes)
    return operator_version(start.kind, options, tensors[:n], [t for t in tensors[n:] if t])


def operand(start: Start, i: int, code: str, is_known: bool) -> Operand | None:
    """The operand of a start in another type, with its value if it is known or of sizes."""
    array = start.inputs[i]
    if array is None or code == "-":
        return None
    scheme = quantization(start, i, code)
    dtype = dtype_of(code)
    is_known |= i in start.constants
    if is_known or (array.dtype.kind in "iu" and code == start.codes[i]):
        return Operand.known(retyped(array, code), f"in{i}", scheme)
    return Operand.of(arena(array.shape, dtype), f"in{i}", scheme)


def dtype_of(code: str) -> np.dtype:
    """The numpy dtype of a short type."""
    return TENSOR_TYPES[operators.TYPES[code.removeprefix("q")]]


def quantization(start: Start, place: int, code: str) -> Quantization | None:
    """The start's own scales, else one that any operator takes."""
    if not code.startswith("q"):
        return None
    scales, zero, axis, of = start.scales.get(place, ([0.05], 0, 0, "qi8"))
    if "qu8" in (of, code) and of != code:
        zero += 128 if code == "qu8" else -128
    zeros = np.full(len(scales), 0 if code in ("qi16", "qi32", "qi64", "qi4") else zero, np.int64)
    return Quantization(np.asarray(scales, np.float32), zeros, axis)


def types_of_files() -> dict[str, set[str]]:
    """Operator -> the types of its data in files of the tests.

    Those without a case, whose results must be declared, are taken in other types, too.
    """
    types: dict[str, set[str]] = {}
    declared = list(examples())
    for file in (*(content(sort) for sort in SORTS), *declared):
        for kind, run in runs_of(file):
            places = (*run.inputs[data_place(kind) :], *run.results)
            first = next((x for x in places if x is not None), None)
            if first is not None:
                name = name_of("TensorType", tensor_type(first.dtype))
                codes = {operators.SHORT[name]}
                if file in declared and not operator_starts.starts(kind):
                    codes |= {code for code in CODES if takes_file(file, name, code)}
                types.setdefault(kind, set()).update(codes)
    return types


def takes_file(file: bytes, name: str, code: str) -> bool:
    """Whether the interpreter prepares a file with another type in place of the one of a name."""
    changed = model.load(file)
    kind = operators.TYPES[code.removeprefix("q")]
    tensors = [x for graph in changed.subgraphs for x in graph.tensors if x.dtype == name]
    if code.startswith("q") or any(x.data is not None for x in tensors):
        return False
    for tensor in tensors:
        tensor.dtype = kind
    try:
        Interpreter(model_content=model.save(changed)).allocate_tensors()
    except RuntimeError:
        return False
    return True


if __name__ == "__main__":
    PAGE.write_text(page())
