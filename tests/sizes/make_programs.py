"""Writes programs.npz: drawn programs over shapes and the answers of their own runtimes.

python tests/sizes/make_programs.py --tensorflow PYTHON [--count 170]

PYTHON is one with TensorFlow and onnxruntime. Of each kind the first programs are taken whose
runtime accepts four sizes or more; the sizes that it refuses are left out.
"""

from __future__ import annotations

import argparse
import pickle
import subprocess
import tempfile
from pathlib import Path

from draw import draw
from recorded_programs import Recorded, write

N_SIZES = 4  # that a program's runtime must accept


def main() -> None:
    """Draws, asks and writes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tensorflow", required=True)
    parser.add_argument("--count", type=int, default=170)
    arguments = parser.parse_args()
    drawn = [(k, i, draw(k, i)) for k in ("tf", "onnx") for i in range(arguments.count * 5 // 4)]
    rows = [
        (kind, p.content, p.inputs, p.n_outputs, [*map(p.shapes, p.sizes)]) for kind, _, p in drawn
    ]
    with tempfile.TemporaryDirectory() as folder:
        requests, answered = Path(folder, "drawn.pickle"), Path(folder, "answers.pickle")
        requests.write_bytes(pickle.dumps(rows))
        script = Path(__file__).with_name("answer_programs.py")
        subprocess.run([arguments.tensorflow, script, requests, answered], check=True)
        answers = pickle.loads(answered.read_bytes())
    chosen: dict[str, list[Recorded]] = {"tf": [], "onnx": []}
    refused = 0
    for (kind, number, program), row, actual in zip(drawn, rows, answers, strict=True):
        pairs = [(shapes, a) for shapes, a in zip(row[4], actual, strict=True) if a is not None]
        refused += len(actual) - len(pairs)
        if len(pairs) >= N_SIZES and len(chosen[kind]) < arguments.count:
            name = f"{kind}/{number}"
            recorded = (row[1], row[2], row[3], list(program.steps), pairs)
            chosen[kind].append(Recorded(name, *recorded))
    print({kind: len(programs) for kind, programs in chosen.items()}, f"{refused} sizes refused")
    write([*chosen["tf"], *chosen["onnx"]])


if __name__ == "__main__":
    main()
