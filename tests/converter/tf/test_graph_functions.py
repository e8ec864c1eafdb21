"""Graphs that only TensorFlow 2 writes: quantized types, random numbers by seed, decompositions."""

from pathlib import Path

import numpy as np
import pytest

from flatlite.errors import UnsupportedOps
from flatlite.lite import Interpreter, OpsSet, TFLiteConverter

with np.load(Path(__file__).with_name("graph_functions.npz")) as file:
    RECORDED = dict(file.items())
NAMES = sorted({key.removesuffix("/graph") for key in RECORDED if key.endswith("/graph")})
FLEX = {
    "uniform": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessRandomUniformV2"],
    "algorithm": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessRandomUniformV2"],
    "normal": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessRandomNormalV2"],
    "truncated": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessTruncatedNormalV2"],
    "integers": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessRandomUniformIntV2"],
    "long": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessRandomUniformIntV2"],
    "full": ["FlexStatelessRandomGetKeyCounter", "FlexStatelessRandomUniformFullIntV2"],
    "qr": ["FlexQr"],
    "singular": ["FlexSvd"],
    "eigen": ["FlexSelfAdjointEigV2"],
}
"""The Flex operators of a case; of the random ones, those that TensorFlow writes."""


def converter_of(name, tmp_path, *sets):
    path = tmp_path / "graph.pb"
    path.write_bytes(RECORDED[f"{name}/graph"].tobytes())
    inputs, outputs = (side.split(",") for side in str(RECORDED[f"{name}/ends"]).split("|"))
    converter = TFLiteConverter.from_frozen_graph(path, inputs, outputs)
    converter.target_spec.supported_ops = [OpsSet.TFLITE_BUILTINS, *sets]
    return converter


def arrays(name, side):
    keys = sorted(key for key in RECORDED if key.startswith(f"{name}/{side}/"))
    return [RECORDED[key] for key in keys]


@pytest.mark.parametrize("name", NAMES)
def test_answers(name, tmp_path, litert):
    converter = converter_of(name, tmp_path, OpsSet.SELECT_TF_OPS)
    if "nested" in name:  # whose outer rows no random numbers part
        converter.verify_inputs = [arrays(name, "in")]
    content = converter.convert()
    interpreter = Interpreter(model_content=content)
    interpreter.allocate_tensors()
    for detail, x in zip(interpreter.get_input_details(), arrays(name, "in"), strict=True):
        interpreter.set_tensor(detail["index"], x)
    interpreter.invoke()
    details, expected = interpreter.get_output_details(), arrays(name, "out")
    for detail, y in zip(details, expected, strict=True):
        result = interpreter.get_tensor(detail["index"])
        if name == "qr":  # which is unique but for signs
            result, y = abs(result), abs(y)
        np.testing.assert_allclose(result, y, 1e-5, 1e-6)
    kinds = [op["op_name"] for op in interpreter._get_ops_details()]
    assert [kind for kind in kinds if kind.startswith("Flex")] == FLEX.get(name, [])
    if name not in FLEX:
        results = litert.run(content, [arrays(name, "in")], "BUILTIN")[0]
        for result, y in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, y, 1e-5, 1e-6)


@pytest.mark.parametrize("name", ["uniform", "qr", "singular", "eigen"])
def test_builtins_alone(name, tmp_path):
    with pytest.raises(UnsupportedOps, match=r"OpsSet\.SELECT_TF_OPS"):
        converter_of(name, tmp_path).convert()


def test_another_algorithm():
    from flatlite.graph.core.registry import row_of

    draw = row_of("StatelessRandomUniformV2").kernel
    operands = np.int32([2]), np.uint64([1]), np.uint64([0, 0]), np.int32(2)
    with pytest.raises(ValueError, match=r"alg must be 1 \(Philox\) or 3, got 2"):
        draw(*operands, dtype=np.dtype(np.float32))
