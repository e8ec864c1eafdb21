"""What a graph becomes, by hand-made ranges; expected is TFLite's 8-bit specification."""

import building
import numpy as np
import pytest
from rewriting import graph_of, shown
from running import answers

from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.write import write
from flatlite.converter.quantize.dynamic import quantize_weights
from flatlite.converter.quantize.islands import islands, refuse, work_of
from flatlite.converter.quantize.ranges import Scales
from flatlite.converter.quantize.recipe import Recipe
from flatlite.converter.quantize.rewrite import rewrite
from flatlite.converter.quantize.rules import rule_of
from flatlite.converter.quantize.scheme import DYNAMIC
from flatlite.converter.quantize.scheme import INT8 as INT8_SCHEME
from flatlite.errors import ConverterError
from flatlite.lite import Interpreter, Optimize, TFLiteConverter
from flatlite.schema.model import save

UNIT = (-128.0, 127.0)  # a scale of 1
REAL, INT8, UINT8 = np.dtype("f4"), np.dtype("i1"), np.dtype("u1")


def quantized(text, ranges, end=INT8):
    """(the graph of `text` with these ranges by tensor name, operators left real)"""
    graph = graph_of(text)
    known = {tensor.name: tensor for tensor in graph.tensors() if not tensor.is_constant}
    recipe = Recipe(input_type=end, output_type=end)
    scales = Scales(graph, {known[k]: v for k, v in ranges.items()})
    left = rewrite(graph, dict.fromkeys(graph.ops, scales), scales, recipe)
    return graph, [op.kind for op in left]


def same_text(graph, after):
    assert shown(graph) == shown(graph_of(after))


CASES = {
    "own scales; the activation stays fused": (
        """graph main(x: float32[n,4], y: float32[n,4]) {
             z = ADD(x, y; fused_activation_function=RELU)
             return z
           }""",
        {"x": UNIT, "y": (-12.8, 12.7), "z": (0.0, 510.0)},
        """graph main(x: int8[n,4]<1:0>, y: int8[n,4]<0.1:0>) {
             z: int8[n,4]<2:-128> = ADD(x, y; fused_activation_function=RELU)
             return z as "out0"
           }""",
    ),
    "a range is widened to hold 0": (
        """graph main(x: float32[n,4]) {
             z = EXP(x)
             return z
           }""",
        {"x": (-255.0, -1.0), "z": (1.0, 25.5)},
        """graph main(x: int8[n,4]<1:127>) {
             z: int8[n,4]<0.1:-128> = EXP(x)
             return z as "out0"
           }""",
    ),
    "pooling keeps the scale of its input": (
        """graph main(x: float32[n,4,4,1]) {
             p = MAX_POOL_2D(x; stride_w=2, stride_h=2, filter_width=2, filter_height=2)
             r = RESHAPE(p, int32[2]{-1, 4})
             return r
           }""",
        {"x": UNIT, "p": (0.0, 127.0), "r": (0.0, 127.0)},
        """graph main(x: int8[n,4,4,1]<1:0>) {
             p: int8[n,2,2,1]<1:0> = MAX_POOL_2D(x;
               stride_w=2, stride_h=2, filter_width=2, filter_height=2)
             r: int8[n,4]<1:0> = RESHAPE(p, int32[2]{-1, 4})
             return r as "out0"
           }""",
    ),
    "a concatenation gives its scale to its inputs": (
        """graph main(x: float32[n,4], y: float32[n,4]) {
             z = CONCATENATION(x, y; axis=1)
             return z
           }""",
        {"x": UNIT, "y": (-12.8, 12.7), "z": UNIT},
        """graph main(x: int8[n,4]<1:0>, y: int8[n,4]<1:0>) {
             z: int8[n,8]<1:0> = CONCATENATION(x, y; axis=1)
             return z as "out0"
           }""",
    ),
    "a prescribed scale is requantized for the concatenation": (
        """graph main(x: float32[n,4], y: float32[n,4]) {
             s = LOGISTIC(x)
             z = CONCATENATION(s, y; axis=1)
             return z
           }""",
        {"x": UNIT, "s": (0.2, 0.8), "y": UNIT, "z": UNIT},
        """graph main(x: int8[n,4]<1:0>, y: int8[n,4]<1:0>) {
             s: int8[n,4]<0.00390625:-128> = LOGISTIC(x)
             t: int8[n,4]<1:0> = QUANTIZE(s)
             z: int8[n,8]<1:0> = CONCATENATION(t, y; axis=1)
             return z as "out0"
           }""",
    ),
    "ELU has a scale of its own": (
        """graph main(x: float32[n,4]) {
             y = ELU(x)
             return y
           }""",
        {"x": UNIT, "y": (-1.0, 24.5)},
        """graph main(x: int8[n,4]<1:0>) {
             y: int8[n,4]<0.1:-118> = ELU(x)
             return y as "out0"
           }""",
    ),
    "a MINIMUM does not cut off what others read": (
        """graph main(x: float32[n,4]) {
             a = MINIMUM(x, float32[]{0.0})
             b = RELU(x)
             return a, b
           }""",
        {"x": UNIT, "a": (-25.5, 0.0), "b": (0.0, 25.5)},
        """graph main(x: int8[n,4]<1:0>) {
             t: int8[n,4]<0.1:127> = QUANTIZE(x)
             a: int8[n,4]<0.1:127> = MINIMUM(t, int8[]<0.1:127>{127})
             b: int8[n,4]<0.1:-128> = RELU(x)
             return a as "out0", b as "out1"
           }""",
    ),
    "a sum with a constant has one scale, in which the constant lies": (
        """graph main(x: float32[n,4]) {
             a = EXP(x)
             b = ADD(a, float32[]{1.0})
             y = LOG(b)
             return y
           }""",
        {"x": UNIT, "a": (0.0, 30.6), "b": (1.0, 31.6), "y": UNIT},
        """graph main(x: int8[n,4]<1:0>) {
             a: int8[n,4]<0.125:-128> = EXP(x)
             b: int8[n,4]<0.125:-128> = ADD(a, int8[]<0.003921568859368563:-128>{127})
             y: int8[n,4]<1:0> = LOG(b)
             return y as "out0"
           }""",
    ),
    "two scales where the constant is less than a step": (
        """graph main(x: float32[n,4]) {
             a = EXP(x)
             b = ADD(a, float32[]{0.05})
             y = LOG(b)
             return y
           }""",
        {"x": UNIT, "a": (0.0, 25.5), "b": (0.05, 28.05), "y": UNIT},
        """graph main(x: int8[n,4]<1:0>) {
             a: int8[n,4]<0.1:-128> = EXP(x)
             b: int8[n,4]<0.11:-128> = ADD(a, int8[]<0.0001960784284165129:-128>{127})
             y: int8[n,4]<1:0> = LOG(b)
             return y as "out0"
           }""",
    ),
    "a divisor stays real with what it is a sum of, below a step": (
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = ABS(y)
             b = ADD(a, float32[]{0.5})
             z = DIV(x, b)
             return z
           }""",
        {"x": UNIT, "y": UNIT, "a": (0.0, 255.0), "b": (0.5, 255.5), "z": UNIT},
        """graph main(x: int8[n,4]<1:0>, y: int8[n,4]<1:0>) {
             ry: float32[n,4] = DEQUANTIZE(y)
             a: float32[n,4] = ABS(ry)
             b: float32[n,4] = ADD(a, float32[]{0.5})
             rx: float32[n,4] = DEQUANTIZE(x)
             z: float32[n,4] = DIV(rx, b)
             q: int8[n,4]<1:0> = QUANTIZE(z)
             return q as "out0"
           }""",
    ),
    "a divisor that would become 0 stays real": (
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a = ABS(y)
             z = DIV(x, a)
             return z
           }""",
        {"x": UNIT, "y": UNIT, "a": (0.1, 255.0), "z": UNIT},
        """graph main(x: int8[n,4]<1:0>, y: int8[n,4]<1:0>) {
             ry: float32[n,4] = DEQUANTIZE(y)
             a: float32[n,4] = ABS(ry)
             rx: float32[n,4] = DEQUANTIZE(x)
             z: float32[n,4] = DIV(rx, a)
             q: int8[n,4]<1:0> = QUANTIZE(z)
             return q as "out0"
           }""",
    ),
    "so does the divisor of an operator on reals": (
        """graph main(x: float32[n,4], y: float32[n,4]) {
             c = ABS(y)
             a = RESHAPE(c, int32[2]{-1, 4})
             b = ABS(x)
             z = FLOOR_DIV(b, a)
             return z
           }""",
        {"x": UNIT, "y": UNIT, "a": (0.1, 255.0), "c": (0.1, 255.0), "b": (0.0, 255.0), "z": UNIT},
        """graph main(x: int8[n,4]<1:0>, y: int8[n,4]<1:0>) {
             ry: float32[n,4] = DEQUANTIZE(y)
             c: float32[n,4] = ABS(ry)
             a: float32[n,4] = RESHAPE(c, int32[2]{-1, 4})
             b: int8[n,4]<1:-128> = ABS(x)
             rb: float32[n,4] = DEQUANTIZE(b)
             z: float32[n,4] = FLOOR_DIV(rb, a)
             q: int8[n,4]<1:0> = QUANTIZE(z)
             return q as "out0"
           }""",
    ),
    "an operator without a kernel is a real island": (
        """graph main(x: float32[n,4]) {
             a = ABS(x)
             s = SIN(a)
             c = COS(s)
             z = ABS(c)
             return z
           }""",
        {"x": UNIT, "a": (0.0, 255.0), "s": (-1.0, 1.0), "c": (0.0, 25.5), "z": (0.0, 25.5)},
        """graph main(x: int8[n,4]<1:0>) {
             a: int8[n,4]<1:-128> = ABS(x)
             r: float32[n,4] = DEQUANTIZE(a)
             s: float32[n,4] = SIN(r)
             c: float32[n,4] = COS(s)
             q: int8[n,4]<0.1:-128> = QUANTIZE(c)
             z: int8[n,4]<0.1:-128> = ABS(q)
             return z as "out0"
           }""",
    ),
    "integers go through untouched": (
        """graph main(x: float32[n,4], i: int32[n,4]) {
             m: int32[n] = ARG_MAX(x, int32[]{1}; output_type=INT32)
             r = RESHAPE(i, int32[1]{-1})
             return m, r
           }""",
        {"x": UNIT},
        """graph main(x: int8[n,4]<1:0>, i: int32[n,4]) {
             m: int32[n] = ARG_MAX(x, int32[]{1}; output_type=INT32)
             r: int32[4*n] = RESHAPE(i, int32[1]{-1})
             return m as "out0", r as "out1"
           }""",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_rewrite(name):
    before, ranges, after = CASES[name]
    graph, _ = quantized(before, ranges)
    same_text(graph, after)


def test_types_of_inputs_and_outputs():
    before, ranges, _ = CASES["own scales; the activation stays fused"]
    graph, left = quantized(before, ranges, UINT8)
    same_text(
        graph,
        """graph main(x: uint8[n,4]<1:128>, y: uint8[n,4]<0.1:128>) {
             a: int8[n,4]<1:0> = QUANTIZE(x)
             b: int8[n,4]<0.1:0> = QUANTIZE(y)
             z: int8[n,4]<2:-128> = ADD(a, b; fused_activation_function=RELU)
             u: uint8[n,4]<2:0> = QUANTIZE(z)
             return u as "out0"
           }""",
    )
    assert left == []
    graph, _ = quantized(before, ranges, REAL)
    same_text(
        graph,
        """graph main(x: float32[n,4], y: float32[n,4]) {
             a: int8[n,4]<1:0> = QUANTIZE(x)
             b: int8[n,4]<0.1:0> = QUANTIZE(y)
             z: int8[n,4]<2:-128> = ADD(a, b; fused_activation_function=RELU)
             r: float32[n,4] = DEQUANTIZE(z)
             return r as "out0"
           }""",
    )


CONVOLUTION = """graph main(x: float32[1,4,4,1]) {
  y = CONV_2D(x, float32[3,1,1,1]{2.54, -1.27, 0.0}, float32[3]{1.0, -1.0, BIAS};
    stride_w=1, stride_h=1)
  return y
}"""


def test_weights_have_a_scale_for_each_channel():
    graph, _ = quantized(CONVOLUTION.replace("BIAS", "0.0"), {"x": UNIT, "y": UNIT})
    _, weights, bias = graph.ops[0].inputs
    assert weights.data.ravel().tolist() == [127, -127, 0]
    scale = np.float32([0.02, 0.01, 1e-6 / 254])
    np.testing.assert_allclose(weights.quantization.scales, scale, rtol=1e-6)
    assert weights.quantization.axis == 0
    assert not weights.quantization.zero_points.any()
    np.testing.assert_allclose(bias.quantization.scales, scale, rtol=1e-6)
    assert (bias.dtype, bias.data[:2].tolist()) == (np.int32, [50, -100])


def test_a_bias_fits_into_32_bits(litert):
    """A channel of zeros has a tiny scale, on which a bias of 100 would need 37 bits."""
    graph, _ = quantized(CONVOLUTION.replace("BIAS", "100.0"), {"x": UNIT, "y": UNIT})
    assert graph.ops[0].inputs[2].data[2] == 2**30
    content = save(write(graph).model)
    x = np.zeros((1, 4, 4, 1), np.int8)
    (by_litert,) = litert.run(content, [[x]])
    assert np.unique(by_litert[0][..., 2]) == [100]


def refuse_all(graph, ops=None):
    """What is said of operators that stay float."""
    work = {op: work_of(op) for op in graph.ops}
    refuse(islands(graph, work, graph.ops if ops is None else ops, (), INT8_SCHEME))


def test_operators_that_stay_real_are_listed():
    before, ranges, _ = CASES["an operator without a kernel is a real island"]
    _, left = quantized(before, ranges)
    assert left == ["SIN", "COS"]
    graph = graph_of(before)
    words = (
        r"strict_int8 asks for integer operators only, but these stay float:\n"
        r"  SIN x 1, first for 's': TFLite has no int8 kernel for it \(\d+.\d% of the work\)\n"
        r"  COS x 1(.|\n)*strict_int8 = False"
    )
    with pytest.raises(ConverterError, match=words):
        refuse_all(graph, [op for op in graph.ops if op.kind in left])


def test_a_kernel_that_knows_no_scales_is_not_called_missing():
    graph = graph_of("""graph main(x: float32[8,4], u: float32[1,4], i: int32[2]) {
      y = DYNAMIC_UPDATE_SLICE(x, u, i)
      return y
    }""")
    with pytest.raises(ConverterError, match="'y': as in TensorFlow it is not quantized; its int8"):
        refuse_all(graph)


def test_filters_that_are_computed_stay_real():
    before = """graph main(x: float32[1,4,4,1], w: float32[2,1,1,1]) {
      y = CONV_2D(x, w, float32[2]{0.0}; stride_w=1, stride_h=1)
      return y
    }"""
    _, left = quantized(before, {"x": UNIT, "w": UNIT, "y": UNIT})
    assert left == ["CONV_2D"]
    with pytest.raises(ConverterError, match="its filter 'w' is not constant"):
        refuse_all(graph_of(before))


def test_constants_that_are_not_finite_stay_real():
    before = """graph main(x: float32[2]) {
      y = MAXIMUM(x, float32[2]{-inf, 0.0})
      return y
    }"""
    _, left = quantized(before, {"x": UNIT, "y": UNIT})
    assert left == ["MAXIMUM"]
    with pytest.raises(ConverterError, match="its constant '' has NaN or infinity"):
        refuse_all(graph_of(before))


WEIGHTS = {
    "FULLY_CONNECTED": (
        """graph main(x: float32[n,32]) {
             y = FULLY_CONNECTED(x, float32[32,32]#w, float32[32]#b)
             return y
           }""",
        ["FULLY_CONNECTED(float32, int8, float32) -> float32"],
        32,
    ),
    "BATCH_MATMUL": (
        """graph main(x: float32[2,4,32]) {
             y = BATCH_MATMUL(x, float32[2,32,32]#w)
             return y
           }""",
        ["BATCH_MATMUL(float32, int8) -> float32"],
        1,
    ),
    "GATHER": (
        """graph main(i: int32[n]) {
             y = GATHER(float32[64,16]#w, i)
             return y
           }""",
        ["GATHER(int8, int32) -> int8", "DEQUANTIZE(int8) -> float32"],
        1,
    ),
    "small weights": (
        """graph main(x: float32[n,32]) {
             y = FULLY_CONNECTED(x, float32[31,32]#w, none)
             return y
           }""",
        ["FULLY_CONNECTED(float32, float32) -> float32"],
        0,
    ),
    "an addend": (
        """graph main(x: float32[32,64]) {
             y = ADD(x, float32[32,64]#w)
             return y
           }""",
        ["ADD(float32, float32) -> float32"],
        0,
    ),
}
"""Graph -> what TensorFlow's converter (2.21) makes of it, and how many scales the weights have."""


@pytest.mark.parametrize("name", WEIGHTS)
def test_dynamic_range(name):
    before, after, n_scales = WEIGHTS[name]
    graph = graph_of(before)
    assert quantize_weights(graph, lambda _: DYNAMIC) == (n_scales > 0)
    actual = [
        f"{op.kind}({', '.join(str(t.dtype) for t in op.present_inputs)}) -> {op.output.dtype}"
        for op in graph.ops
    ]
    assert actual == after
    options = graph.ops[0].options
    if hasattr(options, "asymmetric_quantize_inputs"):
        assert options.asymmetric_quantize_inputs == (n_scales > 0)
    for weights in (t for t in graph.tensors() if t.is_constant and t.dtype == np.int8):
        assert len(weights.quantization.scales) == n_scales
        assert np.abs(weights.data).max() == 127


def test_the_written_file_runs(litert):
    before, ranges, _ = CASES["a prescribed scale is requantized for the concatenation"]
    graph, _ = quantized(before, ranges)
    content = save(write(graph).model)
    generator = np.random.default_rng(1)
    arrays = [generator.integers(-128, 128, (2, 4), np.int8) for _ in range(2)]
    (theirs,) = litert.run(content, [arrays])
    (ours,) = answers(Interpreter(model_content=content), *arrays)
    np.testing.assert_array_equal(ours, theirs[0])


CONSTANTS = {
    "the data of a TRANSPOSE_CONV": (
        (1, 4, 2, 2),
        lambda b: (b.op("TRANSPOSE_CONV", [2, 1, 0], [3], stride_w=1, stride_h=2), [3]),
        [1, 4, 2, 2],
    ),
    "an output that is read": (
        (1, 2, 2, 2),
        lambda b: (b.op("TILE", [0, 2], [3]), [0, 3]),
        [1] * 4,
    ),
}
"""Shape of a result, the operators, the outputs, and the integers the result's size comes from."""


@pytest.mark.parametrize("name", CONSTANTS)
def test_constants_before_an_operator_of_unknown_size(name, litert):
    shape, add, sizes = CONSTANTS[name]
    values = np.linspace(-1, 1, 8).reshape(1, 2, 2, 2)
    b = building.Builder()
    for i, data in enumerate((values, np.moveaxis(values, 0, -1).reshape(2, 2, 1, 2))):
        b.tensor(f"w{i}", data.shape, "FLOAT32", data=data.astype(np.float32))
    b.input("n", (4,), "INT32")
    b.tensor("y", shape, "FLOAT32")
    _, outputs = add(b)
    content, feeds = building.save(b.outputs(*outputs)), [np.int32(sizes)]
    converter = TFLiteConverter.from_tflite_model(content)
    converter.optimizations = [Optimize.DEFAULT]
    converter.representative_dataset = lambda: [feeds] * 2
    after, before = (
        litert.run(one, [feeds], "BUILTIN")[0] for one in (bytes(converter.convert()), content)
    )
    for theirs, expected in zip(after, before, strict=True):
        np.testing.assert_allclose(theirs, expected, atol=0.02)


def test_a_long_chain_of_readers():
    """As unrolled layers are: whether an operator writes a state is known at its end."""
    b = Builder(Graph())
    x = b.input("x", np.float32, (1, 4))
    for _ in range(1200):
        x = b.TANH(x)
    b.graph.outputs = [x]
    assert rule_of(b.graph.ops[0]) is not None
