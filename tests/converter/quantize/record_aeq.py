"""Records what ai-edge-quantizer makes of a small float model, recipe by recipe.

Run in an environment with ai-edge-quantizer 0.7 or later, which neither flatlite nor its tests
need:

    python tests/converter/quantize/record_aeq.py

Reads aeq/float.tflite and aeq/samples.npz, which make_aeq_model.py wrote, and writes
aeq/recipes.json: for each recipe its rows and, for each tensor of the file that it gives, the type,
the scales, the zero points and its bytes: of weights their digest, of a bias its integers.
"""

import hashlib
import json
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_quantizer import quantizer, recipe

FOLDER = Path(__file__).parent / "aeq"
RECIPES = (
    *("dynamic_wi8_afp32", "dynamic_wi4_afp32", "dynamic_legacy_wi8_afp32"),
    *("weight_only_wi8_afp32", "weight_only_wi4_afp32", "static_wi8_ai8", "static_wi8_ai16"),
)
MIXED = "sample_advanced_usage_recipe"
KINDS = {code: name for name, code in vars(schema.BuiltinOperator).items() if name.isupper()}
BIAS_TYPES = {"INT32": np.int32, "INT64": np.int64}
TYPES = {code: name for name, code in vars(schema.TensorType).items() if name.isupper()}


def rows_of(name):
    """The rows of a recipe, as JSON has them."""
    if name == MIXED:
        return json.loads((Path(recipe.__file__).parent / "recipes" / f"{name}.json").read_text())
    return json.loads(json.dumps(getattr(recipe, name)(), default=str))


def quantized(rows):
    """The file that a recipe gives."""
    tool = quantizer.Quantizer(str(FOLDER / "float.tflite"))
    tool.load_quantization_recipe(rows)
    measured = None
    if tool.need_calibration:
        samples = np.load(FOLDER / "samples.npz")["x"]
        measured = tool.calibrate({"serving_default": [{"x": x} for x in samples]})
    return tool.quantize(measured).quantized_model


def operators(content):
    """[kind, a row for each operand and result]."""
    model = schema.ModelT.InitFromObj(schema.Model.GetRootAs(content, 0))
    (graph,) = model.subgraphs
    return [
        [KINDS[model.operatorCodes[op.opcodeIndex].builtinCode]]
        + [tensor_row(model, graph.tensors[i]) for i in (*op.inputs, *op.outputs) if i >= 0]
        for op in graph.operators
    ]


def tensor_row(model, tensor):
    """[type, scales, zero points, bytes], as JSON."""
    data, stated = model.buffers[tensor.buffer].data, tensor.quantization
    has_scales = stated is not None and stated.scale is not None and len(stated.scale)
    scales = np.asarray(stated.scale if has_scales else [], np.float32).astype(float).tolist()
    zero_points = np.asarray(stated.zeroPoint if has_scales else []).tolist()
    kind = TYPES[tensor.type]
    if data is None:
        content = ""
    elif kind in BIAS_TYPES and has_scales:
        content = np.frombuffer(bytes(data), BIAS_TYPES[kind]).tolist()
    else:
        content = hashlib.sha256(bytes(data)).hexdigest()[:16]
    return [kind, scales, zero_points, content]


def main():
    recipes = {}
    for name in (*RECIPES, MIXED):
        rows = rows_of(name)
        recipes[name] = {"rows": rows, "operators": operators(quantized(rows))}
    recorded = {"ai-edge-quantizer": version("ai-edge-quantizer"), "recipes": recipes}
    (FOLDER / "recipes.json").write_text(json.dumps(recorded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
