"""FULLY_CONNECTED with shuffled weights (version 2) as LiteRT's reference kernel."""

import numpy as np
import pytest
from running import answers

from flatlite.lite import Interpreter
from flatlite.schema.quantization import Quantization
from flatlite.schema.tables import ENUMS

FORMAT = ENUMS["FullyConnectedOptionsWeightsFormat"]["SHUFFLED4x16INT8"]
ACTIVATIONS = ENUMS["ActivationFunctionType"]


def params(scale, zero_point=0):
    return {"quantization": Quantization(np.float32([scale]), np.int64([zero_point]), 0)}


def shuffled(builder, saved, x, n=8, activation="NONE", zero_point=128, workspace=True, **fields):
    """A file; its weights are bytes at random, whatever the order says they are."""
    random, (rows, depth) = np.random.default_rng(n), x.shape
    b = builder()
    tensors = [
        b.input("x", x.shape, "UINT8", **params(0.01, zero_point)),
        b.tensor("w", (n, depth), "UINT8", **params(0.004, 128),
                 data=random.integers(0, 256, (n, depth)).astype(np.uint8)),
        b.tensor("b", (n,), "INT32", **params(0.00004),
                 data=random.integers(-9000, 9000, n).astype(np.int32)),
    ]  # fmt: skip
    ends = [b.tensor("y", (rows, n), "INT16", **params(4 / 32768))]
    ends += [b.tensor("space", (rows, depth), "UINT8")] if workspace else []
    b.op("FULLY_CONNECTED", tensors, ends, weights_format=FORMAT,
         fused_activation_function=ACTIVATIONS[activation], **fields)  # fmt: skip
    b.subgraph.operators[-1].version = 2
    return saved(b.outputs(*ends))


def integers(rows, depth):
    return np.random.default_rng(rows).integers(0, 256, (rows, depth)).astype(np.uint8)


@pytest.mark.parametrize("activation", ["NONE", "RELU", "RELU6", "RELU_N1_TO_1"])
@pytest.mark.parametrize("rows", [1, 4])
def test_as_litert(rows, activation, builder, saved, litert):
    """Both results, the second of which is the shuffled input."""
    x = integers(rows, 48)
    content = shuffled(builder, saved, x, activation=activation)
    ((expected, workspace),) = litert.run(content, [[x]])
    ours, shuffled_input = answers(Interpreter(model_content=content), x)
    assert len(set(ours.ravel().tolist())) > 3
    np.testing.assert_array_equal(ours, expected)
    np.testing.assert_array_equal(shuffled_input, workspace)


@pytest.mark.parametrize(
    ("shape", "fields", "message"),
    [
        ((2, 32), {}, "shuffled weights take 1 or 4 rows, got 2"),
        ((1, 24), {}, r"must be blocks of 4 by 16, got shape \(8, 24\)"),
        ((1, 32), {"n": 6}, r"must be blocks of 4 by 16, got shape \(6, 32\)"),
        ((1, 32), {"zero_point": 3}, r"the input must have zero point 128 .* got \[3\]"),
        ((1, 32), {"workspace": False}, "second result must have 32 elements, got shape None"),
    ],
)
def test_refused(shape, fields, message, builder, saved):
    content = shuffled(builder, saved, integers(*shape), **fields)
    with pytest.raises(RuntimeError, match=message):
        Interpreter(model_content=content).allocate_tensors()
