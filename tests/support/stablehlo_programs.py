"""Programs of StableHLO as JAX writes them, with regions, as files, and what XLA computes.

tests/interpreter/make_stablehlo_programs.py recorded them.
"""

import json
from functools import cache
from pathlib import Path

import ml_dtypes
import numpy as np
from building import Builder, save

PATH = Path(__file__).parents[1] / "interpreter" / "stablehlo_programs.npz"


@cache
def programs():
    """Name -> graphs, the first of which is the main one."""
    return json.loads(np.load(PATH)["programs"].tobytes())


@cache
def recorded():
    """Name -> inputs and results, cut out of the numbers of all."""
    content, at, cut = np.load(PATH)["numbers"].tobytes(), 0, {}
    for name, (main, *_) in programs().items():
        cut[name] = [], []
        for side, arrays in zip(("inputs", "outputs"), cut[name], strict=True):
            for shape, dtype, _ in (main["tensors"][i] for i in main[side]):
                array = np.ndarray(shape, dtype_of(dtype), content, at)
                arrays.append(array)
                at += array.nbytes
    return cut


def file_of(name):
    """The file of a program."""
    return save(*map(subgraph, programs()[name]))


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


def dtype_of(name):
    return np.dtype(ml_dtypes.bfloat16 if name == "bfloat16" else name)
