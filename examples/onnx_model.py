"""Converts an ONNX model and runs it: python examples/onnx_model.py [MODEL.onnx]

Without a file it takes basic_pitch (Spotify, Apache-2.0); ONNX Runtime's answer is stored for it.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np

import flatlite

BASIC_PITCH = Path(__file__).parents[1] / "tests/corpus/D/basic_pitch"


def main(path):
    converter = flatlite.lite.TFLiteConverter.from_onnx_model(path)
    content = converter.convert()
    print(f"{Path(path).name}: {len(content):,} bytes, verified: {converter.verified}")

    interpreter = flatlite.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    kinds = Counter(one["op_name"] for one in interpreter._get_ops_details())
    print(", ".join(f"{count} {kind}" for kind, count in kinds.most_common()))

    runner = interpreter.get_signature_runner()
    if Path(path).parent != BASIC_PITCH:
        for name, detail in runner.get_input_details().items():
            print(f"input {name}: {np.dtype(detail['dtype'])} {detail['shape_signature'].tolist()}")
        return
    recorded = np.load(BASIC_PITCH / "nmp_onnx.npz")
    inputs = {name[4:]: recorded[name] for name in recorded if name.startswith("in0:")}
    for name, got in runner(**inputs).items():
        gap = np.abs(got - recorded[f"ort0:{name}"]).max()
        print(f"{name} {got.shape}: largest difference from ONNX Runtime {gap:.1e}")


if __name__ == "__main__":
    main(*sys.argv[1:] or [BASIC_PITCH / "nmp.onnx"])
