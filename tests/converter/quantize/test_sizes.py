"""What is computed from unknown sizes stays float: calibrated at one size, run at others.

TensorFlow's files (2.21) of the same models, calibrated at a length of 8, have at 61 and 300: the
scale 1.2 and 0.2 dB, the mean -7.7 and -18.3 dB, positions 5.2 and 4.3 dB, the choice 0 dB.
"""

import numpy as np
import pytest
from rewriting import graph_of
from running import answers

from flatlite.converter.ir.write import write
from flatlite.converter.quantize.size_dependent import size_dependent_tensors
from flatlite.errors import ConverterError
from flatlite.graph.core.graph import Graph
from flatlite.graph.format.graphdef import to_graph_def
from flatlite.lite import Interpreter, OpsSet, Optimize, TFLiteConverter
from flatlite.schema.model import save

CALIBRATED = (2, 8, 4)
SIZES = [(1, 2, 4), (3, 5, 4), (2, 8, 4), (1, 61, 4), (2, 300, 4)]
COUNT = """s = SHAPE(x; out_type=INT32)
n: int32[] = STRIDED_SLICE(s, int32[1]{1}, int32[1]{2}, int32[1]{1}; shrink_axis_mask=1)
f: float32[] = CAST(n)
"""
"""The middle size of x, as a float."""
POSITIONS = COUNT + "p = RANGE(float32[]{0.0}, f, float32[]{1.0})\n"
COLUMN = "c: float32[n,1] = RESHAPE(r, int32[2]{-1, 1})\n"

GRAPHS = {
    "a mean by a count": (
        COUNT + "t = TANH(x)\na = SUM(t, int32[1]{1})\ny = DIV(a, f)",
        {"DIV", "SUM"},
    ),
    "a scale": (COUNT + "a = TANH(x)\ny = MUL(a, f)", {"MUL"}),
    "the root of a scale": (
        COUNT + "r = RSQRT(f)\na = TANH(x)\ny = MUL(a, r)",
        {"MUL", "RSQRT"},
    ),
    "positions": (
        POSITIONS + "r = DIV(p, f)\n" + COLUMN + "a = TANH(x)\ny = ADD(a, c)",
        {"ADD", "DIV", "RANGE", "RESHAPE"},
    ),
    "embedded positions": (
        POSITIONS + "r = DIV(p, f)\n" + COLUMN + "e = FULLY_CONNECTED(c, float32[4,1]#w, none)\n"
        "a = TANH(x)\ny = MUL(a, e)",
        {"DIV", "FULLY_CONNECTED", "MUL", "RANGE", "RESHAPE"},
    ),
    "a window": (
        POSITIONS + "r = COS(p)\n" + COLUMN + "a = ABS(x)\ny = MUL(c, a)",
        {"COS", "MUL", "RANGE", "RESHAPE"},
    ),
    "a choice by size": (
        COUNT + "b = LESS(f, float32[]{10.0})\n"
        "g = SELECT_V2(b, float32[]{0.25}, float32[]{8.0})\na = TANH(x)\ny = MUL(a, g)",
        {"LESS", "MUL", "SELECT_V2"},
    ),
}
"""Body of a graph that makes y of x -> kinds of operators on floats, besides CAST."""


def converter_of(body, shape="b,n,4", outputs="y"):
    """A converter of the float model, and that model."""
    graph = graph_of(f"graph main(x: float32[{shape}]) {{\n{body}\nreturn {outputs}\n}}")
    content = save(write([graph]).model)
    converter = TFLiteConverter.from_tflite_model(content)
    converter.optimizations = [Optimize.DEFAULT]
    samples = [[inputs(CALIBRATED, seed)] for seed in range(8)]
    converter.representative_dataset = lambda: iter(samples)
    return converter, content


def inputs(shape, seed=99):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(np.float32)


def decibels(expected, actual):
    noise = np.square(expected.astype("f8") - actual).sum()
    return 10 * np.log10(np.square(expected.astype("f8")).sum() / max(noise, 1e-30))


def float_kinds(content):
    """The kinds of operators that give or take float tensors."""
    interpreter = Interpreter(model_content=content)
    dtypes = {one["index"]: one["dtype"] for one in interpreter.get_tensor_details()}
    return {
        one["op_name"]
        for one in interpreter._get_ops_details()
        if np.float32 in [dtypes.get(i) for i in (*one["inputs"], *one["outputs"])]
    }


@pytest.mark.parametrize("name", GRAPHS)
def test_other_sizes(name, litert):
    body, kinds = GRAPHS[name]
    converter, plain = converter_of(body)
    content = converter.convert()
    assert float_kinds(content) - {"QUANTIZE", "DEQUANTIZE"} == kinds | {"CAST"}
    for shape in SIZES:
        x = inputs(shape)
        ((by_litert,),) = litert.run(plain, [[x]])
        (ours,) = answers(Interpreter(model_content=content), x)
        assert decibels(by_litert, ours) > 28, shape
        (theirs,) = litert.run(content, [[x]], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
        np.testing.assert_allclose(ours, theirs[0], rtol=1e-5, atol=1e-6)


TABLE = ", ".join(f"{i / 8:.3f}" for i in range(256))
CUT = f"""k: int32[2] = PACK(n, int32[]{{4}}; axis=0, values_count=2)
t: float32[n,4] = SLICE(float32[64,4]{{{TABLE}}}, int32[2]{{0, 0}}, k)
"""
STATE = """k: int32[2] = PACK(n, int32[]{4}; axis=0, values_count=2)
t: float32[n,4] = BROADCAST_TO(float32[4]{0.5, -0.5, 0.25, 1.0}, k)
u = FULLY_CONNECTED(t, float32[4,4]#w, none)
"""
LENGTH = COUNT.replace("f: float32[] = CAST(n)\n", "")

WHOLE = {
    "a part of a table": LENGTH + CUT + "y = MUL(x, t)",
    "a part of a table, moved": LENGTH + CUT + "y = REVERSE_V2(t, int32[1]{1})",
    "a repeated constant": LENGTH + STATE + "y = MUL(x, u)",
}
"""Bodies that are int8 from end to end, though sizes tell some of their operands."""


@pytest.mark.parametrize("name", WHOLE)
def test_the_same_range_at_all_sizes(name, litert):
    converter, plain = converter_of(WHOLE[name])
    converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS_INT8]
    content = converter.convert()
    assert float_kinds(content) == {"QUANTIZE", "DEQUANTIZE"}
    for shape in SIZES[: 4 if "moved" in name else 3]:
        x = inputs(shape)
        ((by_litert,),) = litert.run(plain, [[x]])
        (ours,) = answers(Interpreter(model_content=content), x)
        assert decibels(by_litert, ours) > 25, shape
        (theirs,) = litert.run(content, [[x]])
        np.testing.assert_array_equal(ours, theirs[0])


def test_int8_only_names_what_depends_on_sizes():
    body, _ = GRAPHS["a scale"]
    converter, _ = converter_of(body)
    converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS_INT8]
    converter.strict_int8 = True
    words = r"MUL x 1, first for 'out0': 'f' is computed from unknown sizes and has another range"
    with pytest.raises(ConverterError, match=words):
        converter.convert()


def test_an_output_that_sizes_tell_is_float():
    converter, _ = converter_of(POSITIONS + "a = ABS(x)\ny = DIV(p, f)", outputs="y, a")
    converter.inference_input_type = converter.inference_output_type = np.int8
    interpreter = Interpreter(model_content=converter.convert())
    dtypes = [np.dtype(one["dtype"]).name for one in interpreter.get_output_details()]
    assert dtypes == ["float32", "int8"]


def test_known_sizes_are_constants():
    body, _ = GRAPHS["positions"]
    converter, _ = converter_of(body, "2,8,4")
    assert float_kinds(converter.convert()) == {"QUANTIZE", "DEQUANTIZE"}


def test_dynamic_range(litert):
    """The weights that meet data are stored in 8 bits, those that meet positions are not."""
    converter, plain = converter_of(
        POSITIONS + "r = DIV(p, f)\n" + COLUMN + "e = FULLY_CONNECTED(c, float32[2048,1]#w, none)\n"
        "a = FULLY_CONNECTED(x, float32[2048,4]#v, none)\ny = MUL(a, e)"
    )
    converter.representative_dataset = None
    interpreter = Interpreter(model_content=converter.convert())
    weights = [t["dtype"] for t in interpreter.get_tensor_details() if 2048 in t["shape"][:1]]
    assert sorted(np.dtype(one).name for one in weights) == ["float32", "int8"]
    x = inputs((1, 300, 4))
    ((by_litert,),) = litert.run(plain, [[x]])
    (ours,) = answers(interpreter, x)
    assert decibels(by_litert, ours) > 35


BRANCHES = """
graph long(x: float32[b,n,4]) {
  s = SHAPE(x; out_type=INT32)
  n = REDUCE_PROD(s, int32[1]{0})
  f: float32[] = CAST(n)
  return f
}
graph short(x: float32[b,n,4]) {
  return float32[]{0.5}
}
graph data(x: float32[b,n,4]) {
  m = REDUCE_MAX(x, int32[3]{0, 1, 2})
  return m
}"""

NAMED = {
    POSITIONS + "y = RESHAPE(p, int32[2]{1, -1})": "f p y",
    COUNT + "z = ZEROS_LIKE(x)\nc = COS(z)\ny = MUL(z, f)": "f y",
    COUNT + "t = TILE(float32[1,1,1]{2.0}, s)\ny = SUM(t, int32[3]{0, 1, 2})": "f y",
    COUNT + "t = TILE(float32[1,1,1]{2.0}, s)\ny = EXP(t)": "f",
    LENGTH + CUT + "y = MUL(t, float32[]{2.0})": "y",
    LENGTH + CUT + "y = CONCATENATION(t, float32[1,4]{1, 2, 3, 4}; axis=0)": "y",
    COUNT + "b = LESS(n, int32[]{9})\ny: float32[] = IF(b, x; calls=[long, short])": "f y",
    COUNT + "b = LESS(n, int32[]{9})\ny: float32[] = IF(b, x; calls=[long, data])": "f",
    COUNT + "m = REDUCE_MAX(x, int32[1]{2})\ny = MUL(m, f)": "f",
}
"""Body -> the tensors that sizes alone tell, and whose range they change."""


@pytest.mark.parametrize("body", NAMED)
def test_from_sizes(body):
    graph = graph_of(f"graph main(x: float32[b,n,4]) {{\n{body}\nreturn y\n}}\n{BRANCHES}")
    assert " ".join(sorted(tensor.name for tensor in size_dependent_tensors(graph))) == NAMED[body]


def test_a_model_of_large_inputs_is_measured_on_such():
    graph = Graph()
    attrs = {"dtype": np.dtype("f4"), "shape": (1, None, None, 1)}
    (y,) = graph.add("Placeholder", "x", (), attrs).outputs
    for i, size in enumerate((75, 3)):
        w = graph.constant(np.ones((size, size, 1, 1), np.float32) / size, f"w{i}")
        attrs = {"strides": [1, 1, 1, 1], "padding": b"VALID"}
        (y,) = graph.add("Conv2D", f"y{i}", [y, w], attrs).outputs
    converter = TFLiteConverter(
        to_graph_def(graph), None, None, [("x", [1, None, None, 1])], ["y1"]
    )
    converter.optimizations = [Optimize.DEFAULT]
    converter.convert()
    assert converter.verified
    (decibels,) = converter.signal_to_noise.values()
    assert min(decibels.values()) > 20
