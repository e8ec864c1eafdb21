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


def session_of(content):
    return onnxruntime.InferenceSession(
        content.SerializeToString(), options, ["CPUExecutionProvider"]
    )


def by_request(row, feeds):
    """Results of SparseAttention, which writes into the memory of its buffers.

    Each request is run alone: in a batch of different lengths the kernel takes the
    probabilities of one for those of another.
    """
    model, results = row.model(), []
    for value in model.graph.input:
        value.type.tensor_type.ClearField("shape")
    del model.graph.output[:]
    names = model.graph.node[0].output
    model.graph.output.extend(onnx.helper.make_empty_tensor_value_info(name) for name in names)
    session = session_of(model)
    for i, end in enumerate(feeds["e"]):
        alone = {name: x[i : i + 1] for name, x in feeds.items()}
        alone["t"] = alone["e"] = np.array([end])
        values = {
            name: onnxruntime.OrtValue.ortvalue_from_numpy(x.copy()) for name, x in alone.items()
        }
        binding = session.io_binding()
        for name, value in values.items():
            binding.bind_ortvalue_input(name, value)
        binding.bind_output("y")
        for name, buffer in (("pk", "p"), ("pv", "u")):
            binding.bind_ortvalue_output(name, values[buffer])
        session.run_with_iobinding(binding)
        results.append(binding.copy_outputs_to_cpu())
    return [np.concatenate(parts) for parts in zip(*results, strict=True)]


def record(rows, definitions, path):
    recorded = {}
    for name, row in rows.items():
        text = definitions.get(name)
        try:
            content = row.model() if text is None else definition(row, text)
            if row.kind == "SparseAttention":
                results = by_request(row, row.feeds)
            else:
                session = session_of(content)
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
        if row.node.op_type == "SparseAttention":
            for i, feeds in enumerate(row.sets):
                recorded[f"{name}/{i}"] = by_request(row, feeds)[0]
            continue
        session = session_of(row.model())
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
