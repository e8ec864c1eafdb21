"""Programs as JAX writes them, each an operator with the regions that it comes with, against XLA.

make_stablehlo_programs.py recorded the programs and what XLA computes on a CPU.
"""

import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from building import Builder, save
from running import answers

from flatlite.lite import Interpreter

FILE = np.load(Path(__file__).parent / "stablehlo_programs.npz")
PROGRAMS = json.loads(FILE["programs"].tobytes())
TOLERANCES = {"float64": 1e-6, "float32": 1e-5, "float16": 2e-3, "bfloat16": 2e-2,
              "complex64": 1e-5}  # fmt: skip


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)


def recorded():
    """Program -> its inputs and results, cut out of the numbers of all."""
    content, at, cut = FILE["numbers"].tobytes(), 0, {}
    for name, (main, *_) in PROGRAMS.items():
        cut[name] = [], []
        for side, arrays in zip(("inputs", "outputs"), cut[name], strict=True):
            for shape, dtype, _ in (main["tensors"][i] for i in main[side]):
                array = np.ndarray(shape, dtype_of(dtype), content, at)
                arrays.append(array)
                at += array.nbytes
    return cut


def subgraph(graph):
    b = Builder("graph")
    for i, (shape, dtype, value) in enumerate(graph["tensors"]):
        fields = {}
        if value is not None:
            fields["data"] = np.broadcast_to(np.array(value, dtype_of(dtype)), shape)
        b.tensor(f"t{i}", shape, dtype.upper(), **fields)
    b.subgraph.inputs = graph["inputs"]
    for kind, inputs, results, options in graph["operators"]:
        b.op(kind, inputs, results, **options)
    return b.outputs(*graph["outputs"])


ARRAYS = recorded()


SLOW = ("uint8", "int16", "uint64", "float16")
"""Types whose programs other types stand for."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name.endswith(SLOW) else name
        for name in PROGRAMS
    ],
)
def test_program(name):
    graphs, (feeds, wanted) = PROGRAMS[name], ARRAYS[name]
    interpreter = Interpreter(model_content=save(*map(subgraph, graphs)))
    for got, want in zip(answers(interpreter, *feeds), wanted, strict=True):
        assert (got.dtype, got.shape) == (want.dtype, want.shape)
        tolerance = TOLERANCES.get(want.dtype.name)
        if tolerance is None:
            np.testing.assert_array_equal(got, want)
        else:
            wide = "complex64" if want.dtype.kind == "c" else "float64"
            np.testing.assert_allclose(got.astype(wide), want.astype(wide), tolerance, tolerance)
