"""Small ONNX models for tests, and what the ONNX project's evaluator says of them."""

from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from flatlite.lite import Interpreter, TFLiteConverter

RNG = np.random.default_rng(11)
OPSETS = {"": 17, "ai.onnx.ml": 3, "com.microsoft": 1, "own": 1}
REFERENCE = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"


def floats(*shape):
    return RNG.uniform(-2, 2, shape).astype(np.float32)


def node(kind, names="x", out="y", domain="", **attributes: Any):
    return helper.make_node(kind, names.split(), out.split(), domain=domain, **attributes)


def model_of(nodes, inputs, outputs=("y",), constants=None, functions=(), free=(), opsets=OPSETS):
    values = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(x.dtype),
            [f"d{n}" if n in free else n for n in x.shape],
        )
        for name, x in inputs.items()
    ]
    results = [onnx.ValueInfoProto(name=name) for name in outputs]
    weights = [numpy_helper.from_array(x, name) for name, x in (constants or {}).items()]
    graph = helper.make_graph(nodes, "main", values, results, weights)
    ids = [helper.make_opsetid(*row) for row in opsets.items()]
    return helper.make_model(graph, opset_imports=ids, ir_version=8, functions=functions)


def converted(model, verify=True):
    converter = TFLiteConverter.from_onnx_model(model)
    converter.verify = verify
    content = converter.convert()
    assert converter.verified or not verify
    return content


def checked(model, inputs, litert, want=None, verify=True, tolerance=1e-5):
    """Converts; what our interpreter and LiteRT give is the evaluator's answer, or `want`."""
    content = converted(model, verify)
    names = [value.name for value in model.graph.output]
    want = ReferenceEvaluator(model).run(None, inputs) if want is None else want
    ours = Interpreter(model_content=content).get_signature_runner()(**inputs)
    theirs = litert.run(content, [inputs], REFERENCE, "serving_default")
    assert not isinstance(theirs, str), theirs
    for name, expected in zip(names, want, strict=True):
        expected = np.asarray(expected)
        for results in (ours, theirs[0]):
            if expected.dtype.kind in "OSU":
                assert [bytes(t) for t in results[name].ravel()] == [
                    str(t).encode() for t in expected.ravel()
                ]
            else:
                np.testing.assert_allclose(results[name], expected, tolerance, tolerance)
    return content
