"""Layer normalisation is written in one form, however a source spells it."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from rewriting import answers, feeds_of, graph_of
from running import kinds as kinds_of_file

from flatlite.converter.passes import optimize
from flatlite.converter.passes.fold import remove_dead_code
from flatlite.converter.passes.layer_norm import fuse_layer_norm
from flatlite.converter.quantize.rules import RULES
from flatlite.lite import OpsSet, Optimize, RepresentativeDataset, TFLiteConverter

AXES = "int32[1]{2}"
MOMENTS = f"""
    m = MEAN(x, {AXES}; keep_dims=true)
    s = SQUARED_DIFFERENCE(x, m)
    v = MEAN(s, {AXES}; keep_dims=true)
    e = ADD(v, float32[]{{0.001}})
"""
PARTS = {
    "moments": f"""{MOMENTS}
        r = RSQRT(e)
        d = SUB(x, m)
        z = MUL(d, r)
        g = MUL(z, float32[8]#gamma)
        y = ADD(g, float32[8]#beta)""",
    "batch_normalization": f"""{MOMENTS}
        r = RSQRT(e)
        k = MUL(r, float32[8]#gamma)
        p = MUL(x, k)
        u = MUL(m, k)
        w = SUB(float32[8]#beta, u)
        y = ADD(p, w)""",
    "keras": f"""{MOMENTS}
        r = RSQRT(e)
        k = MUL(r, float32[8]#gamma)
        n = NEG(m)
        u = MUL(n, k)
        w = ADD(u, float32[8]#beta)
        p = MUL(x, k)
        y = ADD(p, w)""",
    **{
        name: f"""
        m = MEAN(x, int32[1]{{-1}}; keep_dims=true)
        d = SUB(x, m)
        s = {square}
        v = MEAN(s, {AXES}; keep_dims=true)
        e = ADD(v, float32[]{{0.001}})
        r = SQRT(e)
        z = DIV(d, r)
        g = MUL(float32[8]#gamma, z)
        y = ADD(float32[8]#beta, g)"""
        for name, square in (
            ("power", "POW(d, float32[]{2})"),
            ("product", "MUL(d, d)"),
            ("square", "SQUARE(d)"),
        )
    },
    "operator": f"""
        z = LAYER_NORM(x, {AXES}, float32[]{{0.001}})
        g = MUL(z, float32[8]#gamma)
        y = ADD(g, float32[8]#beta)""",
}
FORM = ["ADD", "MEAN", "MEAN", "MUL", "RSQRT", "SQUARED_DIFFERENCE", "SUB"]
DENSE = "FULLY_CONNECTED(y, float32[6,8]#w, float32[6]#b; keep_num_dims=true)"


def written(lines, result="y", shape="n,h,8"):
    return f"graph main(x: float32[{shape}]) {{\n{lines}\nreturn {result}\n}}"


def kinds(graph):
    return sorted(op.kind for op in graph.ops)


def check_answers(text, graph):
    """What a graph gives is what the text gives, as its source spells it."""
    source = graph_of(text)
    for binding in (0, 1):
        feeds = feeds_of(source, binding)
        for want, got in zip(answers(source, feeds), answers(graph, feeds), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", PARTS)
def test_one_form(name):
    """Scale and offset are two operators more."""
    text = written(PARTS[name])
    graph = optimize(graph_of(text))
    assert kinds(graph) == sorted([*FORM, "MUL", "ADD"])
    assert {op.kind for op in graph.ops} <= RULES.keys()  # all have int8 kernels
    if name != "operator":
        check_answers(text, graph)


@pytest.mark.parametrize("name", PARTS)
def test_a_dense_layer_takes_scale_and_offset_in(name):
    text = written(f"{PARTS[name]}\nf = {DENSE}", "f")
    graph = optimize(graph_of(text))
    assert kinds(graph) == sorted([*FORM, "FULLY_CONNECTED"])
    if name != "operator":
        check_answers(text, graph)


def test_five_dimensions_are_squared_without_a_broadcast():
    lines = PARTS["power"].replace(AXES, "int32[1]{4}")
    graph = optimize(graph_of(written(lines, shape="n,2,h,2,8")))
    assert "SQUARE" in kinds(graph)
    assert "SQUARED_DIFFERENCE" not in kinds(graph)


HOLDS_OFF = {
    "other_axes": PARTS["power"].replace(AXES, "int32[1]{1}"),
    "dropped_dimensions": PARTS["square"]
    .replace("v = MEAN(s, int32[1]{2}; keep_dims=true)", "v = MEAN(s, int32[2]{0, 2})")
    .replace("-1", "2"),
    "no_epsilon": PARTS["power"].replace("ADD(v, float32[]{0.001})", "ADD(v, x)"),
    "another_mean": PARTS["power"].replace("SUB(x, m)", "SUB(x, float32[]{3})"),
    "cube": PARTS["power"].replace("float32[]{2}", "float32[]{3}"),
    "more_dimensions": PARTS["power"].replace("float32[]{0.001}", "float32[1,1,1,1]{0.001}"),
    "the_form_itself": PARTS["moments"],
    "a_scale_that_stays": PARTS["moments"]
    .replace("z = MUL(d, r)", "k = MUL(r, float32[8]#gamma)\nz = MUL(d, k)")
    .replace("g = MUL(z, float32[8]#gamma)", "g = RELU(z)"),
}


@pytest.mark.parametrize("name", HOLDS_OFF)
def test_holds_off(name):
    graph = graph_of(written(HOLDS_OFF[name]))
    before = str(graph)
    assert fuse_layer_norm(graph) == 0
    assert str(graph) == before


@pytest.mark.parametrize("inner", ["m", "d", "v"])
def test_holds_off_where_a_part_is_an_output(inner):
    assert fuse_layer_norm(graph_of(written(PARTS["power"], f"y, {inner}"))) == 0


def test_what_is_replaced_is_dead_code():
    graph = graph_of(written(PARTS["power"]))
    assert fuse_layer_norm(graph) == 1
    remove_dead_code(graph)
    assert kinds(graph) == ["ADD", "LAYER_NORM", "MUL"]


ONNX = {
    "operator": "LayerNormalization(x, gamma, beta) -> y",
    "parts": """
        ReduceMean(x) -> m
        Sub(x, m) -> d
        Pow(d, two) -> s
        ReduceMean(s) -> v
        Add(v, epsilon) -> e
        Sqrt(e) -> r
        Div(d, r) -> z
        Mul(z, gamma) -> g
        Add(g, beta) -> y""",
}


def onnx_model(text):
    nodes = []
    for line in text.strip().splitlines():
        call, _, result = line.strip().partition(" -> ")
        kind, _, operands = call.rstrip(")").partition("(")
        attributes = {"axes": [-1]} if kind == "ReduceMean" else {}
        nodes.append(helper.make_node(kind, operands.split(", "), [result], **attributes))
    arrays = {
        "gamma": np.linspace(0.5, 2, 8, dtype=np.float32),
        "beta": np.linspace(-1, 1, 8, dtype=np.float32),
        "two": np.array(2, np.float32),
        "epsilon": np.array(1e-5, np.float32),
    }
    ports = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 5, 8]) for name in "xy"]
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "main", ports[:1], ports[1:], constants)
    opset = [helper.make_opsetid("", 17)]
    return helper.make_model(graph, opset_imports=opset, ir_version=8)


@pytest.mark.parametrize("name", ONNX)
def test_onnx_is_quantized_whole(name):
    model = onnx_model(ONNX[name])
    onnx.checker.check_model(model)
    converter = TFLiteConverter.from_onnx_model(model)
    converter.optimizations = [Optimize.DEFAULT]
    converter.target_spec.supported_ops = {OpsSet.TFLITE_BUILTINS_INT8}
    generator = np.random.default_rng(1)
    samples = [[generator.normal(size=(1, 5, 8)).astype(np.float32)] for _ in range(4)]
    converter.representative_dataset = RepresentativeDataset(lambda: samples)
    kinds = sorted(kinds_of_file(converter.convert()))
    assert kinds == sorted([*FORM, "MUL", "ADD", "QUANTIZE", "DEQUANTIZE"])
