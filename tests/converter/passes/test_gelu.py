"""The exact GELU is one operator, whoever wrote it and however."""

import numpy as np
import onnx
import pytest
from drafting import Draft
from onnx import TensorProto, helper, numpy_helper
from running import kinds

from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.text import to_text
from flatlite.converter.passes import optimize
from flatlite.converter.tf.lower import lower_graph
from flatlite.lite import TFLiteConverter

ROOT_HALF = 0.5**0.5


class OfTensorFlow:
    """Formulas in TensorFlow's operations; `kinds` are the operators that one becomes."""

    def __init__(self):
        self.draft = Draft()

    def binary(self, kind, x, y):
        name = {"mul": "Mul", "add": "AddV2", "div": "RealDiv", "sub": "Sub"}[kind]
        return self.draft.op(name, x, y)

    def erf(self, x):
        return self.draft.op("Erf", x)

    def kinds(self, formula, folder):
        x = self.draft.input("x", (None, 9))
        graph = optimize(lower_graph(self.draft.source(formula(self, x))))
        return [op.kind for op in graph.ops]


class OfOnnx:
    def __init__(self):
        self.nodes, self.constants = [], []

    def name(self, x):
        if isinstance(x, str):
            return x
        array, name = np.asarray(x), f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(array, name))
        if array.dtype == np.float16:
            return self.node("Cast", name, to=TensorProto.FLOAT)
        return name

    def node(self, kind, *inputs, **attributes):
        inputs = [self.name(x) for x in inputs]
        out = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [out], **attributes))
        return self.nodes[-1].output[0]

    def binary(self, kind, x, y):
        return self.node(kind.title(), x, y)

    def erf(self, x):
        return self.node("Erf", x)

    def kinds(self, formula, folder):
        y = formula(self, "x")
        value = helper.make_tensor_value_info
        graph = helper.make_graph(
            self.nodes,
            "main",
            [value("x", TensorProto.FLOAT, ["n", 9])],
            [value(y, TensorProto.FLOAT, ["n", 9])],
            self.constants,
        )
        opset = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save(model, folder / "m.onnx")
        return kinds(TFLiteConverter.from_onnx_model(folder / "m.onnx").convert())


class OfText:
    def __init__(self):
        self.lines = []

    def binary(self, kind, x, y):
        first, second = (one if isinstance(one, str) else f"float32[]{{{one}}}" for one in (x, y))
        return self.line(f"{kind.upper()}({first}, {second})")

    def erf(self, x):
        return self.line(f"ERF({x})")

    def line(self, call):
        self.lines.append(f"t{len(self.lines)} = {call}")
        return f"t{len(self.lines) - 1}"

    def kinds(self, formula, folder):
        y = formula(self, "x")
        body = "\n".join(self.lines)
        graph = parse(f"graph main(x: float32[n,9]) {{\n{body}\nreturn {y}\n}}")
        assert to_text(parse(to_text(graph))) == to_text(graph)
        return [op.kind for op in optimize(graph).ops]


def tensorflow(w, x, number=np.float32):
    """0.5 * x * (1 + erf(x / sqrt(2)))."""
    erf = w.erf(w.binary("div", x, number(2**0.5)))
    return w.binary("mul", w.binary("mul", number(0.5), x), w.binary("add", number(1), erf))


def operands_swapped(w, x, number=np.float32):
    erf = w.erf(w.binary("div", x, number(2**0.5)))
    return w.binary("mul", w.binary("add", erf, number(1)), w.binary("mul", x, number(0.5)))


def root_as_a_factor(w, x, number=np.float32):
    erf = w.erf(w.binary("mul", number(ROOT_HALF), x))
    return w.binary("mul", w.binary("mul", x, w.binary("add", erf, number(1))), number(0.5))


def half_first(w, x, number=np.float32):
    erf = w.erf(w.binary("mul", x, number(ROOT_HALF)))
    return w.binary("mul", number(0.5), w.binary("mul", x, w.binary("add", number(1), erf)))


def float16_constants(w, x):
    return tensorflow(w, x, np.float16)


def keras(w, x, number=np.float32):
    """x / 2 * (1 + erf(x * sqrt(1 / 2)))."""
    erf = w.erf(w.binary("mul", x, number(ROOT_HALF)))
    return w.binary("mul", w.binary("mul", x, number(0.5)), w.binary("add", erf, number(1)))


FORMULAS = [tensorflow, operands_swapped, root_as_a_factor, half_first, float16_constants, keras]


@pytest.mark.parametrize("writer", [OfTensorFlow, OfOnnx, OfText])
@pytest.mark.parametrize("formula", FORMULAS)
def test_it_is_one_operator(writer, formula, tmp_path):
    if writer is OfTensorFlow and formula is float16_constants:
        formula = rounded_to_float16
    assert writer().kinds(formula, tmp_path) == ["GELU"]


def rounded_to_float16(w, x):
    """Constants of a float16 graph that was widened."""
    return tensorflow(w, x, lambda value: np.float32(np.float16(value)))


@pytest.mark.parametrize("writer", [OfTensorFlow, OfOnnx, OfText])
def test_what_only_looks_like_it_is_not(writer, tmp_path):
    def formula(w, x):
        erf = w.erf(w.binary("mul", x, np.float32(0.8)))
        return w.binary(
            "mul", w.binary("mul", x, np.float32(0.5)), w.binary("add", erf, np.float32(1))
        )

    operators = writer().kinds(formula, tmp_path)
    assert "GELU" not in operators
    assert "ERF" not in operators


def test_its_negation_may_have_other_readers():
    graph = parse("""
graph main(x: float32[n,9]) {
n = NEG(x)
e = EXP(n)
s = MUL(n, float32[]{0.70710678})
f = ERF(s)
g = SUB(float32[]{1}, f)
h = MUL(x, float32[]{0.5})
y = MUL(h, g)
return y, e
}""")
    assert sorted(op.kind for op in optimize(graph).ops) == ["EXP", "GELU", "NEG"]
