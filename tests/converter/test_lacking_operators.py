"""Operators that LiteRT has no kernel for: written as builtins, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest
from building import doubling
from running import answers
from stablehlo_programs import file_of, programs, recorded

from flatlite.converter.targets import LACKING
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema.flatbuffer import options_class
from flatlite.schema.model import Model, Operator, Subgraph, Tensor, load, save
from flatlite.schema.tables import BUILTIN_OPERATOR

NO_KERNELS = {"CUSTOM", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"}
KERNELS = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
REFUSED = {
    "argmax": "STABLEHLO_REDUCE",
    "argsort": "STABLEHLO_SORT",
    "convolution_3d": "STABLEHLO_CONVOLUTION",
    "reduce": "STABLEHLO_REDUCE",
    "scatter_any": "STABLEHLO_SCATTER",
    "sort": "STABLEHLO_SORT",
    "sort_two_keys": "STABLEHLO_SORT",
    "window": "STABLEHLO_REDUCE_WINDOW",
    "window_padded": "STABLEHLO_REDUCE_WINDOW",
}
"""Folds of several operators, or of several operands, and orders that a program says."""
OVERFLOWING = "edges/int32"
"""The smallest integer by -1 is itself in XLA, and the largest one in LiteRT's DIV."""


def test_litert_has_no_kernel_for_these(litert):
    missing = set()
    for kind in BUILTIN_OPERATOR.keys() - NO_KERNELS:
        tensors = [Tensor("x", (1,)), Tensor("y", (1,))]
        version = 2 if kind == "BROADCAST_TO" else 1  # the first one that there is
        graph = Subgraph("main", tensors, [0], [1], [Operator(kind, [0], [1], version=version)])
        callee = Subgraph("callee", [Tensor("x", (1,))], [0], [0])
        said = litert.run(save(Model([graph, callee, callee])), resolver=KERNELS)
        if isinstance(said, str) and "Didn't find op" in said:
            missing.add(kind)
    assert missing == LACKING


@pytest.mark.parametrize(
    "name",
    [x for x in programs() if x.endswith(("/float32", "/int32")) and x != OVERFLOWING],
)
def test_programs_of_stablehlo_run_in_litert(name, litert):
    """Or are refused, by the operator that has no form in builtins."""
    kind = REFUSED.get(name.partition("/")[0])
    converter = TFLiteConverter.from_tflite_model(file_of(name))
    if kind is not None:
        with pytest.raises(ConverterError, match=f"target litert does not run(.|\n)*{kind} '"):
            converter.convert()
        return
    feeds, expected = recorded()[name]
    (results,) = litert.run(converter.convert(), [feeds], resolver=KERNELS)
    for got, want in zip(results, expected, strict=True):
        np.testing.assert_allclose(got, want, 1e-5, 1e-5)


def calling(scales=(None, None), state=False):
    """y = |2 * |2 * x|| by two calls of one subgraph, z = the first of them."""
    tensors = [Tensor(name, (2,), quantization=scales[0]) for name in "xzy"]
    call = options_class("CALL")(subgraph=1)
    steps = [Operator("CALL", [0], [1], call), Operator("CALL", [1], [2], call)]
    main = Subgraph("main", tensors, [0], [2, 1], steps)
    inner = [Tensor(name, (2,), quantization=scales[1]) for name in "abc"]
    inner += [
        Tensor("two", (), data=np.array(2, np.float32)),
        Tensor("state", (2,), is_variable=state),
    ]
    body = [
        Operator("MUL", [0, 3], [1], options_class("MUL")()),
        Operator("ABS", [1], [2], options_class("ABS")()),
    ]
    return save(Model([main, Subgraph("twice", inner, [0], [2], body)]))


def test_calls_are_written_in_place(litert):
    content = TFLiteConverter.from_tflite_model(calling()).convert()
    (graph,) = load(content).subgraphs
    assert "CALL" not in {op.op for op in graph.operators}
    x = np.float32([-1.5, 2])
    expected = [abs(4 * x), abs(2 * x)]
    for results in (
        answers(Interpreter(model_content=content), x),
        litert.run(content, [[x]])[0],
    ):
        for got, want in zip(results, expected, strict=True):
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("levels", [30, "states"])
def test_calls_that_stay_are_refused_by_name(levels):
    """Too many of them, or of a subgraph with a state."""
    content = calling(state=True) if levels == "states" else doubling(levels)
    converter = TFLiteConverter.from_tflite_model(content)
    with pytest.raises(ConverterError, match=r"target litert(.|\n)*CALL '.*has no kernel for it"):
        converter.convert()
