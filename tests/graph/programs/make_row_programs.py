"""Writes row_programs.json: what TensorFlow makes of row_programs.py. Needs tensorflow.

python tests/graph/programs/make_row_programs.py
"""

import json
import tempfile
from pathlib import Path

import row_programs as programs
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main() -> None:
    """Runs everything once."""
    recorded = {"tensorflow": tf.__version__, "values": {}, "errors": {}}
    for program in programs.VALUES:
        with tempfile.TemporaryDirectory() as folder:
            recorded["values"][program.__name__] = programs.values_of(tf, program, folder)
    for expression, words in programs.ERRORS.items():
        kind, message = programs.error_of(tf, expression)
        lines = message.splitlines()
        essence = next((line for line in lines if words in line), lines[0])
        recorded["errors"][expression] = [kind, essence.strip()]
    path = Path(__file__).with_name("row_programs.json")
    path.write_text(json.dumps(recorded, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
