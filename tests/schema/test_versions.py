"""Versions are those TensorFlow's converter gives, and the release is the one it writes."""

import numpy as np
import pytest

from flatlite.schema import tables
from flatlite.schema.flatbuffer import record
from flatlite.schema.model import Model, Operator, Quantization, Subgraph, Tensor, load
from flatlite.schema.runtime_versions import FIRST_RELEASES, NEWEST, known_versions
from flatlite.schema.targets.version_rules import RULES
from flatlite.schema.targets.versions import (
    first_release,
    operator_version,
    runtime_version,
    update_versions,
)


def tensor(text):
    """A tensor from "INT8", "INT8[4,3]" or "INT8[4,3]*4", the last with 4 scales; None for "-"."""
    if text == "-":
        return None
    text, _, scales = text.partition("*")
    dtype, _, shape = text.rstrip("]").partition("[")
    sizes = tuple(int(size) for size in shape.split(",")) if shape else (2, 2)
    n_scales = int(scales or 0)
    values = np.full(n_scales, 0.5, "f4")
    quantization = Quantization(values, np.zeros(n_scales, "i8")) if n_scales else None
    return Tensor("", sizes, dtype, quantization=quantization)


def options(op, **fields):
    return record(f"{op}Options")(**fields)


CASES = [
    ("RELU", None, "FLOAT32 -> FLOAT32", 1),
    ("RELU", None, "UINT8 -> UINT8", 2),
    ("RELU", None, "INT16 -> INT16", 3),
    ("ABS", None, "INT16 -> INT16", 4),
    ("ABS", None, "INT16*1 -> INT16", 3),
    ("ADD", None, "INT16 INT16 -> INT16", 5),
    ("ADD", options("Add", pot_scale_int16=False), "INT16*1 INT16*1 -> INT16*1", 3),
    ("ADD", options("Add"), "INT16*1 INT16*1 -> INT16*1", 1),
    ("ADD", None, "INT8*1 INT8*1 -> INT8*1", 2),
    ("MUL", None, "INT8*1 INT8*1 -> INT8*1", 2),
    ("MUL", None, "INT16*1 INT16*1 -> INT16*1", 4),
    ("MUL", None, "INT16 INT16 -> INT16", 7),
    ("SUB", None, "FLOAT32[1,2,3,4,5] FLOAT32[5] -> FLOAT32", 3),
    ("SUB", None, "FLOAT32[1,2,3,4,5] FLOAT32[1,2,3,4,5] -> FLOAT32", 1),
    ("CONV_2D", options("Conv2D"), "FLOAT32[1,8,8,3] FLOAT32[4,3,3,3] -> FLOAT32", 1),
    ("CONV_2D", options("Conv2D"), "FLOAT32[1,8,8,3] INT8[4,3,3,3]*1 -> FLOAT32", 2),
    ("CONV_2D", options("Conv2D"), "FLOAT32[1,8,8,3] INT8[4,3,3,3]*4 -> FLOAT32", 5),
    ("CONV_2D", options("Conv2D"), "INT8[1,8,8,3]*1 INT8[4,3,3,3]*4 -> INT8*1", 3),
    ("CONV_2D", options("Conv2D"), "FLOAT32[1,8,8,6] FLOAT32[4,3,3,3] -> FLOAT32", 6),
    ("CONV_2D", options("Conv2D"), "INT16[1,8,8,3]*1 INT8[4,3,3,3]*4 -> INT16*1", 4),
    (
        "CONV_2D",
        options("Conv2D", quantized_bias_type=4),
        "INT16[1,8,8,3]*1 INT8[4,3,3,3]*4 -> INT16*1",
        8,
    ),
    (
        "DEPTHWISE_CONV_2D",
        options("DepthwiseConv2D", dilation_h_factor=2),
        "FLOAT32[1,8,8,3] FLOAT32[1,3,3,3] -> FLOAT32",
        2,
    ),
    ("DEPTHWISE_CONV_2D", None, "FLOAT32[1,8,8,3] FLOAT32[1,3,3,3] -> FLOAT32", 1),
    ("FULLY_CONNECTED", options("FullyConnected"), "FLOAT32 FLOAT32 -> FLOAT32", 6),
    ("FULLY_CONNECTED", options("FullyConnected"), "FLOAT32 FLOAT32 - -> FLOAT32", 1),
    (
        "FULLY_CONNECTED",
        options("FullyConnected", keep_num_dims=True),
        "FLOAT32 FLOAT32 FLOAT32 -> FLOAT32",
        5,
    ),
    (
        "FULLY_CONNECTED",
        options("FullyConnected", asymmetric_quantize_inputs=True),
        "FLOAT32 INT8[3,2]*1 FLOAT32 -> FLOAT32",
        9,
    ),
    ("FULLY_CONNECTED", options("FullyConnected"), "FLOAT32 INT8[3,2]*3 - -> FLOAT32", 12),
    ("BROADCAST_TO", None, "FLOAT32 INT32 -> FLOAT32", 2),
    ("BROADCAST_TO", None, "INT8 INT32 -> INT8", 3),
    ("CAST", None, "FLOAT16 -> FLOAT32", 5),
    ("CAST", None, "INT32 -> INT8", 3),
    ("DEQUANTIZE", None, "INT8[4,3]*4 -> FLOAT32", 5),
    ("DEQUANTIZE", None, "INT8[4,3]*1 -> FLOAT32", 2),
    ("LSTM", None, "FLOAT32 INT8 INT8 -> FLOAT32", 3),
    ("LSTM", options("LSTM", asymmetric_quantize_inputs=True), "FLOAT32 INT8 INT8 -> FLOAT32", 4),
    ("LSTM", options("LSTM", kernel_type=1), "FLOAT32 FLOAT32 FLOAT32 -> FLOAT32", 2),
    ("STRIDED_SLICE", options("StridedSlice", new_axis_mask=1), "FLOAT32 INT32 -> FLOAT32", 6),
    ("TRANSPOSE", None, "FLOAT32[1,1,1,1,1] INT32 -> FLOAT32", 4),
    ("TRANSPOSE_CONV", options("TransposeConv"), "INT32 FLOAT32 FLOAT32 FLOAT32 -> FLOAT32", 3),
    ("TRANSPOSE_CONV", options("TransposeConv"), "INT32 FLOAT32 FLOAT32 - -> FLOAT32", 1),
    ("WHERE", None, "BOOL -> INT64", 1),
    ("WHERE", None, "FLOAT32 -> INT64", 2),
    ("STABLEHLO_ADD", None, "FLOAT32 FLOAT32 -> FLOAT32", 1),
]


@pytest.mark.parametrize(("op", "fields", "types", "version"), CASES)
def test_operator_version(op, fields, types, version):
    inputs, outputs = (list(map(tensor, part.split())) for part in types.split("->"))
    assert operator_version(op, fields, inputs, outputs) == version


def test_a_mul_that_scales_up():
    small = Quantization(np.array([0.01], "f4"), np.zeros(1, "i8"))
    result = Tensor("", (2,), "INT8", quantization=small)
    assert operator_version("MUL", None, [tensor("INT8*1")] * 2, [result]) == 3


def test_sparse_weights():
    weights = Tensor("", (2, 2), sparsity=record("SparsityParameters")())
    inputs = [tensor("FLOAT32"), weights, None]
    assert operator_version("FULLY_CONNECTED", None, inputs, [tensor("FLOAT32")]) == 8


def test_every_rule_has_a_release():
    assert FIRST_RELEASES.keys() | RULES.keys() <= tables.BUILTIN_OPERATOR.keys()
    unknown = {
        (op, version)
        for op, rules in RULES.items()
        for version, _ in rules
        if not first_release(op, version)
    }
    assert {op for op, _ in unknown} <= NEWEST.keys()
    assert all(version in known_versions(op) for op, version in unknown)


@pytest.mark.parametrize(
    ("op", "dtype", "version"),
    [
        ("CAST", "FLOAT8_E5M2", 9),
        ("CONCATENATION", "FLOAT16", 6),
        ("GELU", "FLOAT16", 3),
        ("PAD", "FLOAT8_E4M3FN", 6),
        ("SIN", "FLOAT16", 2),
        ("SLICE", "FLOAT16", 8),
        ("SOFTMAX", "FLOAT16", 4),
        ("TRANSPOSE", "FLOAT16", 9),
        ("UNPACK", "FLOAT8_E4M3FN", 6),
    ],
)
def test_versions_of_small_floats(op, dtype, version):
    """As LiteRT's GetBuiltinOperatorVersion gives."""
    assert operator_version(op, None, [tensor(dtype)], [tensor(dtype)]) == version


def test_first_release():
    assert first_release("CONV_2D", 6) == "2.9.0"
    assert first_release("BROADCAST_TO", 1) == ""
    assert first_release("CONV_2D", 99) == ""
    assert first_release("CUSTOM", 1) == ""


def test_update_versions():
    tensors = [tensor("FLOAT32"), tensor("UINT8"), tensor("FLOAT32"), tensor("UINT8")]
    operators = [
        Operator("RELU", [0], [2]),
        Operator("RELU", [1], [3]),
        Operator("CUSTOM", [0], [2], custom_code="mine", version=7),
    ]
    model = Model([Subgraph("", tensors, operators=operators)])
    update_versions(model)
    assert [operator.version for operator in operators] == [2, 2, 7]
    assert model.metadata == {"min_runtime_version": b"2.1.0".ljust(16, b"\0")}


def test_a_release_is_compared_by_number():
    operators = [Operator("GELU", [], []), Operator("ATAN2", [], [])]
    assert runtime_version(Model([Subgraph("", [], operators=operators)])) == "2.10.0"
    assert runtime_version(Model([Subgraph()])) == ""


def test_files_of_the_converter(files):
    """Files with INT16 are left out: TensorFlow's quantizer leaves the versions of INT8 in them."""
    n_compared = 0
    for name, content in files.items():
        model = load(content)
        tensors = [tensor for subgraph in model.subgraphs for tensor in subgraph.tensors]
        if "CONVERSION_METADATA" not in model.metadata or any(t.dtype == "INT16" for t in tensors):
            continue
        theirs = [operator.version for s in model.subgraphs for operator in s.operators]
        release = model.metadata["min_runtime_version"]
        update_versions(model)
        assert [o.version for s in model.subgraphs for o in s.operators] == theirs, name
        assert model.metadata["min_runtime_version"] == release, name
        n_compared += 1
    assert n_compared > 0 or len(files) < 10
