"""XLA's operations in graphs, against what TensorFlow answered when it compiled them."""

from pathlib import Path

import numpy as np
import pytest

from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, TFLiteConverter
from flatlite.schema import proto

with np.load(Path(__file__).with_name("xla_functions.npz")) as file:
    RECORDED = dict(file.items())
NAMES = sorted({key.removesuffix("/graph") for key in RECORDED if key.endswith("/graph")})
FAST = {
    *("compiler", "conv", "conv/depthwise", "conv/nchw", "conv/transposed", "dot", "dot/batch"),
    *("gather/batch", "gather/rows", "gather/windows", "helper", "reduce/argument", "reduce/sum"),
    *("scatter/add", "scatter/max", "scatter/windows", "sort/lexical", "window/max"),
    "window/running",
}
"""Cases of the default run; `make test-all` has all."""
OPERATORS = {
    "conv": ["PAD", "CONV_2D"],
    "conv/computed": ["TRANSPOSE", "CONV_2D"],
    "conv/depthwise": ["DEPTHWISE_CONV_2D"],
    "conv/nchw": ["TRANSPOSE", "PAD", "CONV_2D", "TRANSPOSE"],
    "dot": ["BATCH_MATMUL"],
    "reduce/sum": ["SUM"],
    "window/running": ["CUMSUM"],
}


def arrays(name, side):
    keys = [key for key in RECORDED if key.startswith(f"{name}/{side}/")]
    return [RECORDED[key] for key in sorted(keys)]


def convert(name, tmp_path, change=None):
    path, graph = (
        tmp_path / "graph.pb",
        proto.GraphDef.FromString(RECORDED[f"{name}/graph"].tobytes()),
    )
    if change is not None:
        change(graph)
    path.write_bytes(graph.SerializeToString())
    inputs, outputs = (side.split(",") for side in str(RECORDED[f"{name}/ends"]).split("|"))
    return TFLiteConverter.from_frozen_graph(path, inputs, outputs).convert()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name not in FAST)) for name in NAMES]
)
def test_answers(name, tmp_path):
    content = convert(name, tmp_path)
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), arrays(name, "in"), strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    for detail, y in zip(interpreter.get_output_details(), arrays(name, "out"), strict=True):
        np.testing.assert_allclose(interpreter.get_tensor(detail["index"]), y, 1e-5, 1e-5)
    if name in OPERATORS:
        kinds = [op["op_name"] for op in interpreter._get_ops_details()]
        assert kinds == OPERATORS[name]


def of_type(graph, type_):
    nodes = [*graph.node, *(n for f in graph.library.function for n in f.node_def)]
    return next(node for node in nodes if node.op == type_)


def numbers(kind, content):
    def change(graph):
        of_type(graph, kind).attr["dimension_numbers"].s = content

    return change


def attribute(kind, name, value):
    def change(graph):
        of_type(graph, kind).attr[name].i = value

    return change


FAR_AXIS = proto.GatherDimensionNumbers(collapsed_slice_dims=[7]).SerializeToString()
REFUSALS = {
    "message": ("dot", numbers("XlaDotV2", b"\xff"), "dimension_numbers must be a DotDimension"),
    "axis": ("gather/rows", numbers("XlaGather", FAR_AXIS), r"dropped dimensions must be among 2"),
    "batches": ("conv", attribute("XlaConvV2", "batch_group_count", 2), "must be 1; others are of"),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_refusals(name, tmp_path):
    case, change, message = REFUSALS[name]
    with pytest.raises((ConverterError, ValueError), match=message):
        convert(case, tmp_path, change)
