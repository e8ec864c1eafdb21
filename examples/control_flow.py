"""Loops, branches and state in a file: python examples/control_flow.py

Converts a SavedModel with a while loop and one with a branch (models/control), and runs a wake word
detector that keeps what it heard in variables (pymicro-wakeword, Apache-2.0) over 40 calls.
"""

from pathlib import Path

import numpy as np

import flatlite
from flatlite.schema.model import load

ROOT = Path(__file__).parents[1]
WAKEWORD = ROOT / "tests/corpus/D/pymicro_wakeword"


def convert(name):
    """Converts one model and compares it with TensorFlow's recorded answers."""
    folder = ROOT / "models/control"
    content = flatlite.lite.TFLiteConverter.from_saved_model(folder / name).convert()
    for graph in load(content).subgraphs:
        print(f"{name}: {graph.name}: {' '.join(op.op for op in graph.operators)}")
    run = flatlite.lite.Interpreter(model_content=content).get_signature_runner()
    recorded = np.load(folder / "example.npz")
    for i in range(2):
        x = recorded[f"{name}/{i}/x"]
        for key, got in run(x=x).items():
            gap = np.abs(got - recorded[f"{name}/{i}/{key}"]).max()
            print(f"  {x} -> {key} {got}, {gap:.1g} from TensorFlow's")


def listen():
    """Feeds a detector with state its frames, one call after the other."""
    recorded = np.load(WAKEWORD / "alexa_seq.npz")
    interpreter = flatlite.lite.Interpreter(model_path=str(WAKEWORD / "alexa.tflite"))
    interpreter.allocate_tensors()
    (frame,), (score,) = interpreter.get_input_details(), interpreter.get_output_details()
    heard = []
    for sound in recorded["in:seq"]:
        interpreter.set_tensor(frame["index"], sound)
        interpreter.invoke()
        heard.append(int(interpreter.get_tensor(score["index"]).item()))
    same = heard == recorded["ref:seq"].ravel().tolist()
    print(f"wake word, {len(heard)} calls: {heard[:12]} ..., LiteRT's answers: {same}")


if __name__ == "__main__":
    convert("loop")
    convert("branch")
    listen()
