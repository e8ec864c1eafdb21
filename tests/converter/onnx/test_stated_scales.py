"""Quantized ONNX files keep every scale that they state, and what they leave float32 stays so.

Expected values are those of onnx.reference on the same file.
"""

import numpy as np
import onnx
import onnx.reference
import pytest
from onnx import helper, numpy_helper

from flatlite.lite import Interpreter, TFLiteConverter

FAST = "BUILTIN_WITHOUT_DEFAULT_DELEGATES"
SCALES = {"coarse": (0.02, 5), "fine": (0.008, -30), "clip": (0.013, -100), "near": (0.021, 2)}
CONSTANTS = {
    "lo": np.float32(-0.3),
    "axes": np.int64([2]),
    "shape": np.int64([0, -1]),
    "odd": np.arange(12).reshape(1, 3, 2, 2) % 2 == 0,
    "row": np.float32([0.11, -0.32]),
}
ROWS = [
    # nodes as "kind inputs result", "-scale" for a QuantizeLinear and DequantizeLinear; what the
    # last result may be off by, in steps of 0.01; operators of the file that work on float32
    ("-coarse x a; -fine w b; Max a,b y", 0, {"MAXIMUM"}),
    ("-coarse x a; -fine w b; Min a,b y", 0, {"MINIMUM"}),
    ("-coarse x a; -fine w b; Concat a,b y", 0, {"CONCATENATION"}),
    ("-coarse x a; -fine w b; Where odd,a,b y", 0, {"SELECT_V2"}),
    ("-coarse x a; -coarse w b; Max a,b y", 0, set()),
    ("-coarse x a; -fine w b; Max a,b c; -near c y", 2.2, set()),
    ("-coarse x a; -fine w b; Concat a,b c; -clip c y", 1.4, set()),
    ("-coarse x a; Max a,lo y", 0, set()),
    ("-fine x a; Max a,lo y", 0, {"MAXIMUM"}),
    ("-coarse x a; ReduceMean a,axes y", 0, {"MEAN"}),
    ("-coarse x a; AveragePool a y", 0, {"AVERAGE_POOL_2D"}),
    ("-coarse x a; AveragePool a b; -fine b y", 0.9, {"AVERAGE_POOL_2D"}),
    ("-coarse x a; AveragePool a b; -near b y", 2.2, set()),
    ("-coarse x a; Tanh a y", 0, {"TANH"}),
    ("-coarse x a; Sigmoid a b; -clip b y", 1.4, set()),
    ("-coarse x a; Add a,row b; -fine b y", 0.9, {"ADD"}),
    ("-coarse x a; -clip a b; Reshape b,shape y", 0, set()),
    ("-coarse x a; Reshape a,shape b; -clip b y", 1.4, set()),
    ("Reshape x,shape b; -clip b y", 1.4, set()),
    ("-coarse x a; Exp x y", 0, {"EXP"}),
    ("-coarse x a; -clip x b; Add a,b c; -near c y", 2.2, set()),
]
ATTRIBUTES = {"Concat": {"axis": 1}, "AveragePool": {"kernel_shape": [2, 2]}}


def model_of(text):
    """The model of a row's nodes, with inputs x and, where it is read, w."""
    constants = dict(CONSTANTS)
    nodes = []
    for kind, inputs, result in map(str.split, text.split(";")):
        if not kind.startswith("-"):
            attributes = ATTRIBUTES.get(kind, {})
            nodes.append(helper.make_node(kind, inputs.split(","), [result], **attributes))
            continue
        scale, zero_point = SCALES[kind[1:]]
        ends = [f"{result}:scale", f"{result}:zero"]
        constants |= {ends[0]: np.float32(scale), ends[1]: np.int8(zero_point)}
        nodes.append(helper.make_node("QuantizeLinear", [inputs, *ends], [f"{result}:q"]))
        nodes.append(helper.make_node("DequantizeLinear", [f"{result}:q", *ends], [result]))
    read = {name for node in nodes for name in node.input}
    kind = onnx.TensorProto.FLOAT
    values = [helper.make_tensor_value_info(x, kind, [1, 3, 2, 2]) for x in "xw" if x in read]
    tensors = [numpy_helper.from_array(np.asarray(a), n) for n, a in constants.items() if n in read]
    result = helper.make_tensor_value_info("y", kind, None)
    graph = helper.make_graph(nodes, "g", values, [result], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)


def float_kinds(content):
    """The operators of a file that compute with float32."""
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    dtypes = {d["index"]: d["dtype"] for d in interpreter.get_tensor_details()}
    return {
        op["op_name"]
        for op in interpreter._get_ops_details()
        if all(dtypes[i] == np.float32 for i in op["outputs"])
        and op["op_name"] not in ("DEQUANTIZE", "FAKE_QUANT", "RESHAPE")
    }


@pytest.mark.parametrize("text, steps, in_float", ROWS)
def test_scales_of_the_source(text, steps, in_float, litert):
    model = model_of(text)
    content = TFLiteConverter.from_onnx_model(model).convert()
    assert float_kinds(content) == in_float
    rng = np.random.default_rng(3)
    names = [value.name for value in model.graph.input]
    sets = [
        {name: rng.normal(0, 0.8, (1, 3, 2, 2)).astype(np.float32) for name in names}
        for _ in range(4)
    ]
    runner = Interpreter(model_content=content).get_signature_runner()
    reference = onnx.reference.ReferenceEvaluator(model)
    theirs = litert.run(content, sets, FAST, "serving_default")
    for values, their_results in zip(sets, theirs, strict=True):
        (expected,) = reference.run(None, values)
        for results in (runner(**values), their_results):
            np.testing.assert_allclose(results["y"], expected, 1e-5, max(steps * 0.01, 1e-5))
