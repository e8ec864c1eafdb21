"""Writes control_programs.json: what TensorFlow makes of control_programs.py. Needs tensorflow.

python tests/graph/programs/make_control_programs.py
"""

import json
from pathlib import Path

import control_programs as programs
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def essence(message: str) -> str:
    """The line of a message that says what is wrong; it may begin with where that was."""
    lines = [line.strip() for line in message.split("\n\t [[{{node")[0].splitlines()]
    if "execution error" not in lines[0]:
        return " ".join(line for line in lines if "number of elements" in line) or lines[0]
    known = ("Error: ", "Iteration: ", "ScanOp: ", "Unsupported ")
    return next(line for line in lines[2:] if any(word in line for word in known))


def main() -> None:
    """Runs everything once."""
    recorded = {
        "tensorflow": tf.__version__,
        "values": {p.__name__: programs.values_of(tf, p) for p in programs.VALUES},
        "errors": {name: programs.error_of(tf, p) for name, p in programs.ERRORS.items()},
    }
    for name, (kind, message) in recorded["errors"].items():
        recorded["errors"][name] = [kind, essence(message)]
    path = Path(__file__).with_name("control_programs.json")
    path.write_text(json.dumps(recorded, indent=0) + "\n")


if __name__ == "__main__":
    main()
