"""Writes value_programs.json: what TensorFlow gives for value_programs.py. Needs tensorflow.

python tests/graph/programs/make_value_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from value_programs import PROGRAMS

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program once."""
    answers = {function.__name__: function(tf) for function in PROGRAMS}
    path = Path(__file__).with_name("value_programs.json")
    path.write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
