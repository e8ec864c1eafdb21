"""Quantizes a small network with ONNX Runtime, in every manner it has, and records its answers.

    python tests/converter/onnx/quantized/make_models.py      # needs onnx, onnxruntime

One network of a convolution, a depthwise one, a sum, poolings and a dense layer; each model lies
beside this script, and answers.npz has the input and what ONNX Runtime gives.
"""

import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime.quantization import (
    CalibrationDataReader,
    QuantFormat,
    QuantType,
    quantize_dynamic,
    quantize_static,
)

FOLDER = Path(__file__).parent
SIDE, CHANNELS = 12, 20
KINDS = {"u8s8": (QuantType.QUInt8, QuantType.QInt8), "s8s8": (QuantType.QInt8, QuantType.QInt8),
         "u8u8": (QuantType.QUInt8, QuantType.QUInt8)}  # fmt: skip
FORMATS = {"qdq": QuantFormat.QDQ, "qoperator": QuantFormat.QOperator}


def network() -> onnx.ModelProto:
    """The float model."""
    rng = np.random.default_rng(5)

    def weights(name, *shape):
        depth = int(np.prod(shape[1:])) or 1
        # channels of unlike size, so that a scale for each of them matters
        sizes = np.geomspace(0.5, 2, shape[0]).reshape(-1, *[1] * (len(shape) - 1))
        values = rng.normal(size=shape) * sizes / np.sqrt(depth)
        return numpy_helper.from_array(values.astype(np.float32), name)

    node = helper.make_node
    nodes = [
        node("Conv", ["x", "w1", "b1"], ["c1"], "conv", pads=[1, 1, 1, 1]),
        node("Relu", ["c1"], ["r1"], "relu"),
        node("Conv", ["r1", "w2", "b2"], ["c2"], "depthwise", pads=[1, 1, 1, 1], group=CHANNELS),
        node("Add", ["c2", "r1"], ["s"], "add"),
        node("MaxPool", ["s"], ["m"], "pool", kernel_shape=[2, 2], strides=[2, 2]),
        node("Conv", ["m", "w3", "b3"], ["c3"], "strided", strides=[2, 2]),
        node("Sigmoid", ["c3"], ["g"], "sigmoid"),
        node("GlobalAveragePool", ["g"], ["a"], "mean"),
        node("Flatten", ["a"], ["f"], "flatten"),
        node("MatMul", ["f", "w4"], ["y"], "dense"),
    ]
    initializers = [
        weights("w1", CHANNELS, 3, 3, 3),
        weights("b1", CHANNELS),
        weights("w2", CHANNELS, 1, 3, 3),
        weights("b2", CHANNELS),
        weights("w3", 2 * CHANNELS, CHANNELS, 3, 3),
        weights("b3", 2 * CHANNELS),
        weights("w4", 2 * CHANNELS, 10),
    ]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 3, SIDE, SIDE])
    y = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 10])
    graph = helper.make_graph(nodes, "network", [x], [y], initializers)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


class Samples(CalibrationDataReader):
    """What the ranges are measured on."""

    def __init__(self) -> None:
        rng = np.random.default_rng(6)
        self.rows = iter([{"x": sample(rng)} for _ in range(8)])

    def get_next(self):
        """The next inputs."""
        return next(self.rows, None)


def sample(rng):
    """An input."""
    return rng.uniform(-1, 1, (1, 3, SIDE, SIDE)).astype(np.float32)


def main() -> None:
    """Writes the models and the answers."""
    x = sample(np.random.default_rng(7))
    answers = {"x": x}

    def record(name, content):
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
        answers[name] = session.run(None, {"x": x})[0]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "float.onnx"
        onnx.save(network(), path)
        record("float", path.read_bytes())
        (FOLDER / "float.onnx").write_bytes(path.read_bytes())
        names = [(f, k, c) for f in FORMATS for k in KINDS for c in (False, True)]
        for form, kind, per_channel in names:
            name = f"{form}_{kind}_{'channel' if per_channel else 'tensor'}"
            activations, weights = KINDS[kind]
            quantize_static(
                path,
                FOLDER / f"{name}.onnx",
                Samples(),
                quant_format=FORMATS[form],
                per_channel=per_channel,
                activation_type=activations,
                weight_type=weights,
            )
            record(name, (FOLDER / f"{name}.onnx").read_bytes())
        quantize_dynamic(path, FOLDER / "dynamic.onnx", weight_type=QuantType.QInt8)
        record("dynamic", (FOLDER / "dynamic.onnx").read_bytes())
    np.savez_compressed(FOLDER / "answers.npz", **answers)


if __name__ == "__main__":
    main()
