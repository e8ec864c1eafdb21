"""Functions whose tensors have no elements; the answers are those TensorFlow 2.21 printed."""

import numpy as np
import pytest

from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, TFLiteConverter

LOWEST = np.finfo(np.float32).min  # what files have for -inf, in TensorFlow's as well
X = np.arange(12, dtype=np.float32).reshape(3, 4) - 5


def converted(build):
    """The file of a function of x, after it was verified."""
    graph = Graph()
    x = graph.add("Placeholder", "x", (), {"dtype": X.dtype, "shape": X.shape}).outputs[0]

    def op(kind, *operands, **attrs):
        tensors = [t if hasattr(t, "op") else graph.constant(np.asarray(t)) for t in operands]
        return graph.add(kind, graph.unique_name(kind), tensors, attrs).outputs

    names = [tensor.name for tensor in build(op, x)]
    converter = TFLiteConverter(to_graph_def(graph), None, None, [("x", list(X.shape))], names)
    content = converter.convert()
    assert converter.verified
    return content


def answers(content):
    """What a file gives for X."""
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], X)
    interpreter.invoke()
    return [interpreter.get_tensor(one["index"]) for one in interpreter.get_output_details()]


def rows(op, x, begin, end):
    return op("StridedSlice", x, np.int32([begin]), np.int32([end]), np.int32([1]))[0]


def parts(op, x):
    row = op("Reshape", rows(op, x, 1, 2), np.int32([4]))[0]
    pieces = op("Split", np.int32(0), row, num_split=4)
    return [*pieces, *op("Where", *op("Greater", pieces[-1], np.float32(0)))]


CASES = {
    "a sum of no rows": (
        lambda op, x: op("Sum", rows(op, x, 0, 0), np.int32([0, 1])),
        [np.float32(0)],
    ),
    "sums of no rows beside others": (
        lambda op, x: [
            *op("Neg", x),
            *op("Sum", rows(op, x, 3, 9), np.int32([0, 1])),
            *op("Prod", rows(op, x, 0, 0), np.int32([0])),
            *op("Max", rows(op, x, 0, 0), np.int32([0])),
        ],
        [-X, np.float32(0), np.ones(4, np.float32), np.full(4, LOWEST)],
    ),
    "a constant without elements": (
        lambda op, x: [*op("Fill", np.int32([0]), np.int32(7)), *op("Neg", x)],
        [np.zeros(0, np.int32), -X],
    ),
    "pieces of which one is looked into": (
        parts,
        [*np.float32([[-1], [0], [1], [2]]), np.int64([[0]])],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_tensorflow_gives(name, litert):
    build, expected = CASES[name]
    content = converted(build)
    outputs = [answers(content)]
    if all(want.size for want in expected):  # LiteRT gives out nothing that is empty
        outputs += litert.run(content, [[X]])
    for output in outputs:
        for got, want in zip(output, expected, strict=True):
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
