"""Pseudo-operators: a closed set, with values that what is written for them has, too."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from flatlite.converter.ir import pseudo
from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.write import write
from flatlite.converter.passes import legalize, optimize
from flatlite.lite import Interpreter
from flatlite.schema import operators
from flatlite.schema.model import save

CALLS = {
    "ERF": "ERF(x)",
    "LAYER_NORM": "LAYER_NORM(x, int32[1]{1}, float32[]{0.001})",
    "SOFTPLUS": "SOFTPLUS(x)",
}
X = np.linspace(-9, 9, 36, dtype=np.float32).reshape(6, 6)


def ran(call):
    """What is written for a call gives, and its operators."""
    text = f"graph main(x: float32[n,6]) {{\ny = {call}\nreturn y\n}}"
    graph = optimize(parse(text))
    interpreter = Interpreter(model_content=save(write([graph]).model))
    interpreter.resize_tensor_input(0, X.shape)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], X)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"]), graph


@pytest.mark.parametrize("kind", pseudo.PSEUDO)
def test_what_is_written_gives_the_value(kind):
    y, graph = ran(CALLS[kind])
    operands = {"LAYER_NORM": (np.int32([1]), np.float32(0.001))}.get(kind, ())
    want = pseudo.VALUES[kind](X.astype(np.float64), *operands)
    np.testing.assert_allclose(y, want, rtol=2e-5, atol=2e-6)
    assert kind not in {op.kind for op in graph.ops}


def test_the_set_is_closed():
    """Each has a value, a rule by which it is written, and a name that TFLite has not."""
    assert pseudo.PSEUDO.keys() == pseudo.VALUES.keys() == CALLS.keys()
    assert pseudo.PSEUDO.keys() <= legalize.RULES.keys()
    assert pseudo.PSEUDO.keys().isdisjoint(operators.kinds())


def test_erf_is_the_error_function():
    """Against 40 terms of its series."""
    terms = [(-1) ** k / (2 * k + 1) for k in range(40)]
    factorials = np.cumprod([1.0, *range(1, 40)])
    series = Polynomial([term / f for term, f in zip(terms, factorials, strict=True)])
    x = np.linspace(-2, 2, 41)
    want = 2 / np.sqrt(np.pi) * x * series(x * x)
    np.testing.assert_allclose(pseudo.VALUES["ERF"](x), want, rtol=1e-12, atol=1e-14)


def test_constants_are_folded():
    graph = optimize(parse("graph main() {\ny = SOFTPLUS(float32[2]{0, 100})\nreturn y\n}"))
    np.testing.assert_allclose(graph.outputs[0].data, np.float32([np.log(2), 100]))
