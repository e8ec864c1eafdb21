"""Weights of uint4, which LiteRT reads as something else: as its int8 of the same numbers."""

import numpy as np
import pytest
from building import Builder, save
from running import answers

from flatlite.lite import Interpreter
from flatlite.schema.model import Quantization, Tensor

RNG = np.random.default_rng(4)
SHAPES = {
    "FULLY_CONNECTED": ((3, 8), (6, 8), (3, 6)),
    "BATCH_MATMUL": ((3, 8), (8, 6), (3, 6)),
    "CONV_2D": ((1, 5, 4, 8), (6, 3, 3, 8), (1, 5, 4, 6)),
    "DEPTHWISE_CONV_2D": ((1, 5, 4, 6), (1, 3, 3, 6), (1, 5, 4, 6)),
    "EMBEDDING_LOOKUP": ((4,), (6, 8), (4, 8)),
}
AXES = {"BATCH_MATMUL": 1, "DEPTHWISE_CONV_2D": 3}
STEPS = {"stride_h": 1, "stride_w": 1}
OPTIONS = {"CONV_2D": STEPS, "DEPTHWISE_CONV_2D": {**STEPS, "depth_multiplier": 1}}


def packed(values):
    """Two of four bits in a byte."""
    return (values.ravel()[::2] | values.ravel()[1::2] << 4).tobytes()


def model(op, dtype, values, zero_points, per_channel=False, numbers="FLOAT32"):
    """The file of an operator with these weights."""
    x_shape, shape, y_shape = SHAPES[op]
    axis = AXES.get(op, 0)
    n = shape[axis] if per_channel else 1
    scales, zeros = np.linspace(0.1, 0.2, n, dtype=np.float32), np.full(n, zero_points)
    b, of_x, of_y = Builder(), None, None
    if numbers == "INT8":
        of_x, of_y = Quantization([0.05], [3]), Quantization([0.1], [-2])
    kind = "INT32" if op == "EMBEDDING_LOOKUP" else numbers
    x = b.input("x", x_shape, kind, quantization=of_x)
    w = b.tensor("w", shape, dtype, data=values, quantization=Quantization(scales, zeros, axis))
    inputs = [x, w]
    if "CONV" in op:
        quantized = numbers == "INT8"
        bias = Quantization(0.05 * scales, np.zeros(n, np.int64)) if quantized else None
        data = np.zeros(6, np.int32 if quantized else np.float32)
        kind = "INT32" if quantized else "FLOAT32"
        b.subgraph.tensors.append(Tensor("b", (6,), kind, data=data, quantization=bias))
        inputs.append(2)
    y = b.tensor("y", y_shape, numbers, quantization=of_y)
    b.op(op, inputs, [y], **OPTIONS.get(op, {}))
    return save(b.outputs(y))


CASES = [
    *((op, "FLOAT32", zero, False) for op in SHAPES if op[0] != "D" for zero in (0, 8, 15)),
    *((op, "INT8", 8, False) for op in ("FULLY_CONNECTED", "BATCH_MATMUL")),
    *((op, numbers, 7, True) for op in SHAPES if "CONV" in op for numbers in ("FLOAT32", "INT8")),
    ("FULLY_CONNECTED", "INT8", 8, True),
]


@pytest.mark.parametrize(("op", "numbers", "zero_point", "per_channel"), CASES)
def test_as_int8_of_the_same_numbers(op, numbers, zero_point, per_channel, litert):
    values = RNG.integers(0, 16, SHAPES[op][1]).astype(np.uint8)
    signed = (values.astype(np.int8) - zero_point).astype(np.int8)
    if op == "EMBEDDING_LOOKUP":
        x = np.array([5, 0, 3, 3], np.int32)
    elif numbers == "INT8":
        x = RNG.integers(-128, 128, SHAPES[op][0]).astype(np.int8)
    else:
        x = RNG.normal(size=SHAPES[op][0]).astype(np.float32)
    theirs = litert.run(model(op, "INT8", signed, 0, per_channel, numbers), [[x]])
    assert not isinstance(theirs, str), theirs
    file = model(op, "UINT4", packed(values), zero_point, per_channel, numbers)
    (ours,) = answers(Interpreter(model_content=file), x)
    if numbers == "INT8":
        np.testing.assert_array_equal(ours, theirs[0][0])
    else:
        np.testing.assert_allclose(ours, theirs[0][0], rtol=1e-5, atol=1e-5)


def test_a_zero_point_that_is_no_uint4():
    values = packed(np.zeros((6, 8), np.uint8))
    interpreter = Interpreter(model_content=model("FULLY_CONNECTED", "UINT4", values, 16))
    with pytest.raises(RuntimeError, match="FULLY_CONNECTED 'y': uint4 is not supported yet"):
        interpreter.allocate_tensors()


def moved(dtype):
    """The file of a RESHAPE of integers of less than a byte."""
    b = Builder()
    x = b.input("x", (2, 3), dtype)
    y = b.tensor("y", (3, 2), dtype)
    b.op("RESHAPE", [x, b.constant("shape", np.int32([3, 2]))], [y])
    return save(b.outputs(y))


@pytest.mark.parametrize("dtype", ["UINT4", "INT4"])
def test_bytes_of_users_have_the_sign_of_the_type(dtype, litert):
    kind, other = (np.uint8, np.int8) if dtype == "UINT4" else (np.int8, np.uint8)
    file, x = moved(dtype), np.arange(6).reshape(2, 3)
    interpreter = Interpreter(model_content=file)
    details = interpreter.get_input_details() + interpreter.get_output_details()
    assert [detail["dtype"] for detail in details] == [kind, kind]
    (want,) = litert.run(file, [[x.astype(kind)]])[0]
    (got,) = answers(interpreter, x.astype(kind))
    assert got.dtype == want.dtype == kind
    np.testing.assert_array_equal(got, want)
    with pytest.raises(ValueError, match="Cannot set tensor: Expected a numpy array of") as ours:
        interpreter.set_tensor(0, x.astype(other))
    assert litert.run(file, [[x.astype(other)]]).removeprefix("ValueError: ") == str(ours.value)
