"""Asks runtimes how many dimensions their operators take; prints rows for schema/targets/ranks.py.

    .venv/bin/python tests/schema/record_ranks.py tflite_micro PYTHON
    .venv/bin/python tests/schema/record_ranks.py tflite_runtime PYTHON

PYTHON has the runtime, as for record_targets.py. Elementwise operators get operands of two shapes,
one that each other dimension is repeated of, as float32, int32, int8 with scales and bool.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.write import write
from flatlite.errors import ConverterError
from flatlite.schema.model import save
from flatlite.schema.quantization import Quantization

CHILD = Path(__file__).with_name("runtime_child.py")
RANKS = range(3, 8)
BINARY = (
    *("ADD", "SUB", "MUL", "DIV", "MAXIMUM", "MINIMUM", "SQUARED_DIFFERENCE", "EQUAL", "GREATER"),
    *("GREATER_EQUAL", "LESS", "LESS_EQUAL", "NOT_EQUAL", "POW", "FLOOR_DIV", "FLOOR_MOD"),
    "ATAN2",
)
LOGICAL = ("LOGICAL_AND", "LOGICAL_OR")


def i32(*values):
    return np.array(values, np.int32)


OPERATORS = {
    "ARG_MAX": lambda b, x, n: b.ARG_MAX(x, np.int32(1), output_type="INT32"),
    "BATCH_MATMUL": lambda b, x, n: b.BATCH_MATMUL(x, x),
    "BROADCAST_TO": lambda b, x, n: b.BROADCAST_TO(b.RELU(x), i32(2, *x.dims)),
    "CONCATENATION": lambda b, x, n: b.CONCATENATION(x, x, axis=1),
    "CUMSUM": lambda b, x, n: b.CUMSUM(x, np.int32(1)),
    "GATHER": lambda b, x, n: b.GATHER(x, i32(0, 1), axis=1),
    "MEAN": lambda b, x, n: b.MEAN(x, i32(1)),
    "MIRROR_PAD": lambda b, x, n: b.MIRROR_PAD(x, i32(*[0, 1] * n).reshape(n, 2), mode="REFLECT"),
    "PACK": lambda b, x, n: b.PACK(x, x, axis=1, values_count=2),
    "PAD": lambda b, x, n: b.PAD(x, i32(*[0, 1] * n).reshape(n, 2)),
    "PADV2": lambda b, x, n: b.PADV2(x, i32(*[0, 1] * n).reshape(n, 2), np.float32(1)),
    "REDUCE_MAX": lambda b, x, n: b.REDUCE_MAX(x, i32(1)),
    "REVERSE_V2": lambda b, x, n: b.REVERSE_V2(x, i32(1)),
    "SELECT_V2": lambda b, x, n: b.SELECT_V2(b.LESS(x, b.RELU(x)), x, np.float32(1)),
    "SLICE": lambda b, x, n: b.SLICE(x, i32(*[0] * n), i32(*[1] * n)),
    "SOFTMAX": lambda b, x, n: b.SOFTMAX(x, beta=1.0),
    "SPLIT": lambda b, x, n: b.SPLIT(np.int32(1), x, num_splits=2)[0],
    "STRIDED_SLICE": lambda b, x, n: b.STRIDED_SLICE(x, *(i32(*[i] * n) for i in (0, 1, 1))),
    "SUM": lambda b, x, n: b.SUM(x, i32(1)),
    "TRANSPOSE": lambda b, x, n: b.TRANSPOSE(x, i32(*reversed(range(n)))),
    "UNPACK": lambda b, x, n: b.UNPACK(x, axis=1, num=2)[0],
}  # fmt: skip


def broadcast(kind: str, dtype: str, rank: int):
    """The graph of an operator whose operands repeat each other's dimensions in turn."""
    graph = Graph()
    b = Builder(graph)
    x, y = (
        b.input(name, np.dtype(dtype), tuple(1 + (i % 2 == first) for i in range(rank)))
        for first, name in enumerate("xy")
    )
    if dtype == "int8":
        for tensor in (x, y):
            tensor.quantization = Quantization([0.5], [0])
    result = getattr(b, kind)(x, y)
    if dtype == "int8" and result.dtype == np.int8:
        result.quantization = Quantization([0.5], [0])
    graph.outputs = [result]
    return graph, {str(i): np.ones(t.shape, t.dtype) for i, t in enumerate((x, y))}


def broadcasts(runtime: str, python: str) -> None:
    """Prints how many dimensions operands may have that repeat each other's."""
    for dtype in ("float32", "int32", "int8", "bool"):
        tried: dict[str, list[int]] = {}
        with tempfile.TemporaryDirectory() as folder:
            for kind in LOGICAL if dtype == "bool" else BINARY:
                for rank in RANKS:
                    try:
                        graph, arrays = broadcast(kind, dtype, rank)
                        content = save(write(graph).model)
                    except ConverterError:
                        continue  # LiteRT itself does not take it
                    path = Path(folder, f"{kind}-{rank}.tflite")
                    path.write_bytes(content)
                    np.savez(path.with_suffix(".npz"), **arrays)
                    tried.setdefault(kind, []).append(rank)
            command = [python, str(CHILD), runtime, folder]
            ran = set(subprocess.run(command, capture_output=True, text=True).stdout.split())
        for kind, ranks in sorted(tried.items()):
            works = [rank for rank in ranks if f"{kind}-{rank}" in ran]
            if works != ranks:
                print(f'    "{kind}": {max(works, default=0)},  # {dtype}')


def main(runtime: str, python: str) -> None:
    broadcasts(runtime, python)
    with tempfile.TemporaryDirectory() as folder:
        tried = {}
        for kind, make in OPERATORS.items():
            for rank in RANKS:
                graph = Graph()
                b = Builder(graph)
                n = rank - (kind == "BROADCAST_TO")
                x = b.input("x", np.float32, (2,) * n)
                try:
                    graph.outputs = [make(b, x, n)]
                except ConverterError:
                    continue  # LiteRT itself takes fewer
                path = Path(folder, f"{kind}-{rank}.tflite")
                path.write_bytes(save(write(graph).model))
                np.savez(path.with_suffix(".npz"), **{"0": np.ones((2,) * n, np.float32)})
                tried.setdefault(kind, []).append(rank)
        command = [python, str(CHILD), runtime, folder]
        ran = set(subprocess.run(command, capture_output=True, text=True).stdout.split())
    for kind, ranks in sorted(tried.items()):
        works = [rank for rank in ranks if f"{kind}-{rank}" in ran]
        if works != ranks:
            print(f'    "{kind}": {max(works, default=0)},')


if __name__ == "__main__":
    main(*sys.argv[1:])
