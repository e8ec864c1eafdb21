"""Writes core_programs.json: what TensorFlow gives for core_programs.py. Needs tensorflow.

python tests/graph/programs/make_core_programs.py
"""

import json
from pathlib import Path

import core_programs  # noqa: F401 - its programs are listed, too
import place_programs
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program once."""
    answers = {function.__name__: function(tf) for function in place_programs.PROGRAMS}
    path = Path(__file__).with_name("core_programs.json")
    path.write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
