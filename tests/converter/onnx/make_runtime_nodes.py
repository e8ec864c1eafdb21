"""Records what ONNX Runtime gives for the nodes of tests/support/runtime_*.py.

    PYTHONPATH=tests/support python tests/converter/onnx/make_runtime_nodes.py [KIND ...]

of nodes, layers, language, versions, legacy and sizes; all of them without one. The names of all
operators of com.microsoft go into microsoft.txt.

Needs onnx and onnxruntime (1.32).

It has no kernel on processors for some of them, of which nothing is recorded, unless there are
nodes of ai.onnx that define them.
"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import runtime_language
import runtime_layers
import runtime_legacy
import runtime_nodes
import runtime_sizes
import runtime_versions
from onnxruntime.capi.onnxruntime_pybind11_state import get_all_operator_schema

HERE = Path(__file__).parent

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


def record_sizes(rows, path):
    recorded = {}
    for name, row in rows.items():
        content = row.model().SerializeToString()
        session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
        for i, feeds in enumerate(row.sets):
            (recorded[f"{name}/{i}"],) = session.run(["y"], feeds)
    np.savez_compressed(path, **recorded)


RECORDS = {
    "nodes": (runtime_nodes.ROWS, {}),
    "layers": (runtime_layers.ROWS, runtime_layers.DEFINITIONS),
    "language": (runtime_language.ROWS, runtime_language.DEFINITIONS),
    "versions": (runtime_versions.ROWS, {}),
    "legacy": (runtime_legacy.ROWS, runtime_legacy.DEFINITIONS),
}
declared = get_all_operator_schema()
names = sorted({x.name for x in declared if x.domain == "com.microsoft"})
(HERE / "microsoft.txt").write_text("\n".join(names) + "\n")
for name in sys.argv[1:] or [*RECORDS, "sizes"]:
    path = HERE / f"runtime_{name}.npz"
    if name == "sizes":
        record_sizes(runtime_sizes.ROWS, path)
    else:
        record(*RECORDS[name], path)
