"""Pseudo-operators: a closed set, with values that what is written for them has, too."""

import numpy as np
import pytest
from numpy.polynomial import Polynomial

from flatlite.converter.ir import pseudo
from flatlite.converter.ir.builder import Builder
from flatlite.converter.ir.graph import Graph
from flatlite.converter.ir.parse import parse
from flatlite.converter.ir.write import write
from flatlite.converter.passes import legalize, optimize
from flatlite.lite import Interpreter
from flatlite.schema import operators
from flatlite.schema.model import save

X = np.linspace(-9, 9, 36, dtype=np.float32).reshape(6, 6)
STEPS = np.linspace(-2, 2, 60, dtype=np.float32).reshape(4, 5, 3)
TANH, RELU = 4, 1


def sequence(gates, activation, time_major=False, states=0):
    """Operands of a sequence of 2 units."""
    random = np.random.default_rng(gates)
    shapes = (2 * gates, 3), (2 * gates, 2), (2 * gates,)
    weights = [random.normal(0, 0.5, shape).astype(np.float32) for shape in shapes]
    batch = STEPS.shape[1] if time_major else STEPS.shape[0]
    initial = [random.normal(0, 1, (batch, 2)).astype(np.float32) for _ in range(states)]
    return (*weights, np.int32(activation), np.bool_(time_major), *initial)


CASES = {
    "ERF": ("ERF", X, ()),
    "LAYER_NORM": ("LAYER_NORM", X, (np.int32([1]), np.float32(0.001))),
    "LSTM_SEQUENCE": ("LSTM_SEQUENCE", STEPS, sequence(4, TANH)),
    "LSTM_SEQUENCE, steps first": ("LSTM_SEQUENCE", STEPS, sequence(4, RELU, True)),
    "LSTM_SEQUENCE, states": ("LSTM_SEQUENCE", STEPS, sequence(4, TANH, False, 2)),
    "RNN_SEQUENCE": ("RNN_SEQUENCE", STEPS, sequence(1, RELU)),
    "RNN_SEQUENCE, state": ("RNN_SEQUENCE", STEPS, sequence(1, TANH, True, 1)),
    "SOFTPLUS": ("SOFTPLUS", X, ()),
}


def written(kind, shape, operands):
    """The graph of a call, and its file."""
    b = Builder(Graph())
    x = b.input("x", np.float32, shape)
    b.graph.outputs = [b.op(kind, x, *operands)]
    graph = optimize(b.graph)
    return graph, save(write([graph]).model)


@pytest.mark.parametrize("fixed", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_what_is_written_gives_the_value(case, fixed, litert):
    kind, x, operands = CASES[case]
    states = operands[5:]
    shape = x.shape if fixed or states else [None] * (x.ndim - 1) + [x.shape[-1]]
    graph, content = written(kind, shape, operands)
    want = pseudo.VALUES[kind](x.astype(np.float64), *operands)
    assert kind not in {op.kind for op in graph.ops}
    interpreter = Interpreter(model_content=content)
    interpreter.resize_tensor_input(0, x.shape)
    interpreter.allocate_tensors()
    theirs = litert.run(content, [[x], (x,)], "AUTO")
    assert not isinstance(theirs, str), theirs
    for (other,) in theirs:
        interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
        interpreter.invoke()
        y = interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
        np.testing.assert_allclose(y, want, rtol=2e-5, atol=2e-6)
        np.testing.assert_allclose(other, want, rtol=2e-5, atol=4e-6)


def test_one_operator_writes_the_states_of_all_sequences():
    b = Builder(Graph())
    x = b.input("x", np.float32, (4, 5, 3))
    y = b.op("LSTM_SEQUENCE", x, *sequence(4, TANH))
    z = b.op("RNN_SEQUENCE", x, *sequence(1, TANH))
    b.graph.outputs = [b.CONCATENATION(y, z, axis=2)]
    graph = optimize(b.graph)
    kinds = [op.kind for op in graph.ops]
    assert kinds.count("SPLIT") == 1
    assert len(kinds) == 4
    states = [tensor for op in graph.ops for tensor in op.inputs if tensor and tensor.is_variable]
    assert len(states) == len(set(states)) == 3


def test_the_set_is_closed():
    """Each has a value, a rule by which it is written, and a name that TFLite has not."""
    assert pseudo.PSEUDO.keys() == pseudo.VALUES.keys() == {kind for kind, *_ in CASES.values()}
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
