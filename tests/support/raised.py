"""Models as graphs, run beside the interpreter."""

import numpy as np
from running import answers

import flatlite.compat.v1 as tf
from flatlite.lite import Interpreter

NOT_RAISED = {
    *("CONCAT_EMBEDDINGS", "DELEGATE", "PLACEHOLDER_FOR_GREATER_OP_CODES"),
    *("EMBEDDING_LOOKUP_SPARSE", "HASHTABLE_LOOKUP", "LSH_PROJECTION", "SKIP_GRAM"),
    *("HASHTABLE", "HASHTABLE_FIND", "HASHTABLE_IMPORT", "HASHTABLE_SIZE", "MULTINOMIAL"),
    *("DILATE", "REDUCE_WINDOW", "STABLEHLO_CONVOLUTION", "STABLEHLO_CUSTOM_CALL"),
    *("STABLEHLO_GATHER", "STABLEHLO_REDUCE_WINDOW", "STABLEHLO_RNG_BIT_GENERATOR"),
    *("STABLEHLO_SCATTER", "STABLEHLO_SORT"),
}
"""Operators without a form in TensorFlow's operations, which to_graph refuses."""


def real(array, detail):
    """The real numbers that an array of a quantized tensor stands for; others as they are."""
    scale, zero_point = detail["quantization"]
    if not scale or array.dtype.kind == "f":
        return array
    return (array.astype(np.float32) - zero_point) * np.float32(scale)


def interpreted(model, feeds):
    interpreter = Interpreter(model_content=model)
    results = answers(interpreter, *feeds)
    return results, (interpreter.get_input_details(), interpreter.get_output_details())


def in_session(raised, feeds):
    with tf.Session(graph=raised.graph) as session:
        session.run(raised.initializer)
        inputs = dict(zip(raised.inputs.values(), feeds, strict=True))
        return session.run(list(raised.outputs.values()), inputs)


def assert_like(got, want, detail, rtol, atol):
    """A result of the graph is the interpreter's, within a step where that is quantized."""
    scale = detail["quantization"][0]
    want_real = real(want, detail)
    if want_real is not want:
        np.testing.assert_allclose(got, want_real, rtol=0, atol=1.01 * scale)
    elif want.dtype.kind in "fc":
        assert got.dtype == want.dtype and got.shape == want.shape
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol)
    else:
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)
