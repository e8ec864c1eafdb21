"""Recurrent kernels for each kind of vectors: against float64, and rounded ones against LiteRT."""

import numpy as np
import pytest
from recurrent_models import Sort, content

from flatlite.lite import Interpreter

MODULES = ("recurrent_f32", "recurrent_i8")
IN_WIDE_VECTORS = True
TANH = ("fused_activation_function", 4)
SIZES = (3, 4, 9, 45, 37)


def run_model(model, x):
    interpreter = Interpreter(model_content=model)
    interpreter.allocate_tensors()
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


def lstm(x, weights, recurrent, biases):
    """An LSTM in float64; gates are input, forget, new, output."""
    hidden = cell = np.zeros((x.shape[0], recurrent[0].shape[1]))
    for step in range(x.shape[1]):
        i, f, g, o = (
            x[:, step] @ w.T + hidden @ r.T + b
            for w, r, b in zip(weights, recurrent, biases, strict=True)
        )
        i, f, o = (1 / (1 + np.exp(-gate)) for gate in (i, f, o))
        cell = f * cell + i * np.tanh(g)
        hidden = o * np.tanh(cell)
        yield hidden


def test_float_lstm(vectors):
    from flatlite.schema import model as schema

    sort = Sort("UNIDIRECTIONAL_SEQUENCE_LSTM", options=(TANH,), sizes=SIZES)
    model = content(sort)
    graph = schema.load(model).subgraphs[0]
    arrays = [graph.tensors[i].data if i >= 0 else None for i in graph.operators[0].inputs]
    x = np.random.default_rng(3).normal(size=(3, 4, 9)).astype(np.float32)
    want = np.stack(list(lstm(x, arrays[1:5], arrays[5:9], arrays[12:16])), axis=1)
    np.testing.assert_allclose(run_model(model, x), want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("numbers", ["hybrid", "int8"])
def test_rounded_lstm(vectors, numbers, litert):
    sort = Sort(
        "UNIDIRECTIONAL_SEQUENCE_LSTM", numbers, projected=True, options=(TANH,), sizes=SIZES
    )
    x = np.random.default_rng(4).integers(-128, 128, (3, 4, 9)).astype(np.int8)
    x = x if numbers == "int8" else x.astype(np.float32) / 100
    model = content(sort)
    ((want,),) = litert.run(model, [[x]])
    if numbers == "int8":
        np.testing.assert_array_equal(run_model(model, x), want)
    else:
        np.testing.assert_allclose(run_model(model, x), want, rtol=1e-5, atol=1e-6)
