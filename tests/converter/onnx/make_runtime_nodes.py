"""Records what ONNX Runtime gives for the nodes of tests/support/runtime_*.py.

    python tests/converter/onnx/make_runtime_nodes.py [nodes] [layers] [versions]

Needs onnx and onnxruntime (1.32).

It has no kernel on processors for some of them, of which nothing is recorded, unless there are
nodes of ai.onnx that define them.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "support"))

import runtime_layers  # noqa: E402
import runtime_nodes  # noqa: E402
import runtime_versions  # noqa: E402

options = onnxruntime.SessionOptions()
options.log_severity_level = 4


def definition(row, text):
    """The model whose node is replaced by nodes of ai.onnx."""
    model = row.model()
    nodes = onnx.parser.parse_graph(f"main () => () {{ {text} }}").node
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.opset_import[0].version = 21 if "GroupNorm" in text else 20 if "Gelu" in text else 18
    return model


def record(rows, definitions, path):
    recorded = {}
    for name, row in rows.items():
        text = definitions.get(name)
        try:
            content = row.model() if text is None else definition(row, text)
            session = onnxruntime.InferenceSession(
                content.SerializeToString(), options, ["CPUExecutionProvider"]
            )
            feeds = {value.name: row.feeds[value.name] for value in session.get_inputs()}
            results = session.run(row.outputs, feeds)
        except Exception as error:
            print(f"{name}: {str(error)[-300:]}")
            continue
        for output, result in zip(row.outputs, results, strict=True):
            recorded[f"{name}/{output}"] = result
    np.savez_compressed(path, **recorded)


RECORDS = {
    "nodes": (runtime_nodes.ROWS, {}),
    "layers": (runtime_layers.ROWS, runtime_layers.DEFINITIONS),
    "versions": (runtime_versions.ROWS, {}),
}
for name in sys.argv[1:] or RECORDS:
    record(*RECORDS[name], HERE / f"runtime_{name}.npz")
