"""Records what TensorFlow's analyzer prints of models as MLIR, in tests/mlir_texts.npz.

python tests/make_mlir_texts.py PYTHON       PYTHON has TensorFlow
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TESTS = Path(__file__).parent
sys.path[:0] = [str(TESTS / "support"), str(TESTS)]

from mlir_models import models  # noqa: E402

PROGRAM = """
import contextlib, io, json, sys
import tensorflow as tf
texts = {}
for name, path in json.load(sys.stdin).items():
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        tf.lite.experimental.Analyzer.analyze(
            model_content=open(path, "rb").read(), experimental_use_mlir=True
        )
    texts[name] = printed.getvalue()
json.dump(texts, open(sys.argv[1], "w"))
"""


def main(python):
    with tempfile.TemporaryDirectory() as folder:
        paths = {}
        for i, (name, content) in enumerate(models().items()):
            paths[name] = f"{folder}/{i}.tflite"
            Path(paths[name]).write_bytes(content)
        out = f"{folder}/texts.json"
        command = [python, "-c", PROGRAM, out]
        subprocess.run(command, input=json.dumps(paths), text=True, check=True)
        texts = json.loads(Path(out).read_text())
    texts = {name: text for name, text in texts.items() if "func.func" in text}
    written = np.frombuffer(json.dumps(texts, sort_keys=True).encode(), np.uint8)
    np.savez_compressed(TESTS / "mlir_texts.npz", texts=written)
    print(len(texts))


if __name__ == "__main__":
    main(*sys.argv[1:])
