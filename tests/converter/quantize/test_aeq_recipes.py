"""Recipes of ai-edge-quantizer: our files are its own, number by number (record_aeq.py)."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

from flatlite.converter.quantize.recipe_file import from_recipe
from flatlite.lite import TFLiteConverter
from flatlite.schema.flatbuffer import parse
from flatlite.schema.tables import name_of

FOLDER = Path(__file__).parent / "aeq"
RECORDED = json.loads((FOLDER / "recipes.json").read_text())["recipes"]
SUMS = 1e-6  # by which LiteRT's float kernels, which measure there, sum otherwise
BIAS_TYPES = {"INT32": np.int32, "INT64": np.int64}
OTHER_TYPES = {
    ("dynamic_wi4_afp32", "DEPTHWISE_CONV_2D"): "no kernel for 4 bits: float32 there, int8 here",
    ("weight_only_wi4_afp32", "DEPTHWISE_CONV_2D"): "the same",
}
"""Operators whose weights have another type."""


def operators(content: bytes) -> list:
    """[kind, [type, scales, zero points, bytes] of each operand and result] of each operator."""
    model = parse(content)
    (graph,) = model.subgraphs
    return [
        [
            name_of("BuiltinOperator", model.operator_codes[op.opcode_index].builtin_code),
            *(row(model, graph.tensors[i]) for i in (*op.inputs, *op.outputs) if i >= 0),
        ]
        for op in graph.operators
    ]


def row(model, tensor) -> list:
    """[type, scales, zero points, bytes] of a tensor."""
    stated, data = tensor.quantization, model.buffers[tensor.buffer].data
    scales = [] if stated is None or stated.scale is None else np.asarray(stated.scale)
    zero_points = np.asarray(stated.zero_point) if len(scales) else []
    kind = name_of("TensorType", tensor.type)
    return [kind, scales, zero_points, b"" if data is None else bytes(data)]


def same_bytes(kind: str, data: bytes, recorded: str | list) -> None:
    """Weights are equal, a bias within one: it has the scale of what was measured."""
    if isinstance(recorded, list):
        integers = np.frombuffer(data, BIAS_TYPES[kind])
        np.testing.assert_allclose(integers, recorded, rtol=0, atol=1)
    else:
        assert recorded == (hashlib.sha256(data).hexdigest()[:16] if data else "")


@pytest.mark.filterwarnings("ignore:LiteRT has no int4 kernel for the weights of DEPTHWISE")
@pytest.mark.parametrize("name", RECORDED)
def test_files_are_those_of_ai_edge_quantizer(name):
    recorded = RECORDED[name]
    converter = TFLiteConverter.from_tflite_model(FOLDER / "float.tflite")
    converter.quantization_recipe = recorded["rows"]
    samples = np.load(FOLDER / "samples.npz")["x"]
    converter.representative_dataset = lambda: ([x] for x in samples)
    ours, theirs = operators(converter.convert()), recorded["operators"]
    for kind in (kind for recipe, kind in OTHER_TYPES if recipe == name):
        ours, theirs = without(kind, ours), without(kind, theirs)
    assert [op[0] for op in ours] == [op[0] for op in theirs]
    for op, expected_op in zip(ours, theirs, strict=True):
        for tensor, expected in zip(op[1:], expected_op[1:], strict=True):
            assert tensor[0] == expected[0]
            np.testing.assert_allclose(tensor[1], expected[1], rtol=SUMS)
            np.testing.assert_array_equal(tensor[2], expected[2])
            same_bytes(tensor[0], tensor[3], expected[3])


def without(kind: str, ops: list) -> list:
    """Operators but for those of a kind, and a DEQUANTIZE right before them."""
    names = [op[0] for op in ops]
    dropped = {i for i, name in enumerate(names) if name == kind}
    dropped |= {i - 1 for i in dropped if names[i - 1] == "DEQUANTIZE"}
    return [op for i, op in enumerate(ops) if i not in dropped]


FLOATS = {"num_bits": 16, "dtype": "FLOAT"}
WEIGHTS = {"weight_tensor_config": {"num_bits": 8}}


def test_the_last_row_that_fits_holds():
    rows = [
        {"regex": ".*", "operation": "*", "op_config": WEIGHTS},
        {"regex": "head", "operation": "CONV_2D_TRANSPOSE", "algorithm_key": "no_quantize"},
        {"algorithm_key": "float_casting", "operation": "MUL"},
        {"operation": "ADD", "algorithm_key": "GPTQ", "op_config": WEIGHTS},
    ]
    recipe = from_recipe(rows)
    assert [(row.pattern, row.kind) for row in recipe.layers] == [
        (".*", "ADD"),
        (".*", "MUL"),
        ("head", "TRANSPOSE_CONV"),
        (".*", ""),
        ("", ""),
    ]
    schemes = [row.scheme and row.scheme.weights for row in recipe.layers]
    assert schemes == ["i8", "f16", None, "i8", None]
    assert recipe.main.smallest == 0
    assert [algorithm.name for algorithm in recipe.algorithms] == ["gptq"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row, got an empty list"),
        ([["dense", "int8"]], "must be those of ai-edge-quantizer, got list"),
        ([{"operations": "*"}], "a row of ai-edge-quantizer must have keys of .*, got operations"),
        ([{"regex": "("}], "'\\(' must be a regular expression"),
        ([{"algorithm_key": "OCTAV"}], "algorithm_key must be one of .*, got 'OCTAV'"),
        ([{"algorithm_key": "no_quantize"}], "no row quantizes anything"),
        ([{}], "op_config must have a weight_tensor_config"),
        ([{"op_config": {"weights": 1}}], "op_config must have keys of .*, got weights"),
        ([{"op_config": {"weight_tensor_config": FLOATS}}], "dtype .* must be INT, got FLOAT"),
        (
            [{"op_config": {"weight_tensor_config": {"num_bits": 3}}}],
            "num_bits of weights must be one of \\[2, 4, 8\\], got 3",
        ),
        (
            [{"op_config": {"weight_tensor_config": {"num_bits": 8, "symmetric": False}}}],
            "weights must be symmetric",
        ),
        (
            [{"op_config": {"weight_tensor_config": {"num_bits": 8, "granularity": "ROWS"}}}],
            "granularity must be one of TENSORWISE, CHANNELWISE or BLOCKWISE_32 to 256, got ROWS",
        ),
        (
            [
                {
                    "op_config": {
                        "weight_tensor_config": {"num_bits": 4, "granularity": "BLOCKWISE_7"}
                    }
                }
            ],
            "block of a scheme must be one of .*, got 7",
        ),
    ],
)
def test_rows_that_are_refused(rows, message):
    with pytest.raises(ValueError, match=message):
        from_recipe(rows)
