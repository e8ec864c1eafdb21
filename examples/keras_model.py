"""Converts a Keras file without Keras: python examples/keras_model.py [MODEL.keras or MODEL.h5]

Without a file it takes two LeNets, one saved by Keras 3 and one by tf_keras, each in both formats.
"""

import sys
from pathlib import Path

import numpy as np

import flatlite

CORPUS = Path(__file__).parents[1] / "tests/corpus/C"


def main(path):
    converter = flatlite.lite.TFLiteConverter.from_keras_model_file(path)
    content = converter.convert()
    interpreter = flatlite.lite.Interpreter(model_content=content)
    interpreter.allocate_tensors()
    operators = [op["op_name"] for op in interpreter._get_ops_details()]
    print(f"{path}: {len(content):,} bytes, {len(operators)} operators")
    print(f"  verified: {converter.verified}")
    for detail in interpreter.get_input_details():
        print(f"  takes {detail['name']} {detail['shape_signature']} {np.dtype(detail['dtype'])}")
    for detail in interpreter.get_output_details():
        print(f"  gives {detail['name']} {detail['shape_signature']} {np.dtype(detail['dtype'])}")


if __name__ == "__main__":
    names = (
        "lenet_k3/model.keras",
        "lenet_k3/model.h5",
        "lenet_tfk/model.keras",
        "lenet_tfk/model.h5",
    )
    for path in sys.argv[1:] or [CORPUS / name for name in names]:
        main(path)
