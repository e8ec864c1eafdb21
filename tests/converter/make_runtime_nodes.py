"""Records what ONNX Runtime gives for the nodes of tests/support/runtime_nodes.py.

    python tests/converter/make_runtime_nodes.py      # needs onnx, onnxruntime (1.32)

It has no kernel on processors for some of them, of which nothing is recorded.
"""

import sys
from pathlib import Path

import numpy as np
import onnxruntime

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "support"))

from runtime_nodes import ROWS  # noqa: E402

options = onnxruntime.SessionOptions()
options.log_severity_level = 4
recorded = {}
for name, row in ROWS.items():
    try:
        content = row.model().SerializeToString()
        session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
        feeds = {value.name: row.feeds[value.name] for value in session.get_inputs()}
        results = session.run(row.outputs, feeds)
    except Exception as error:
        print(f"{name}: {str(error)[:300]}")
        continue
    for output, result in zip(row.outputs, results, strict=True):
        recorded[f"{name}/{output}"] = result
np.savez_compressed(HERE / "runtime_nodes.npz", **recorded)
