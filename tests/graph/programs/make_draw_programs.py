"""Writes draw_programs.json: what TensorFlow draws in draw_programs.py. Needs tensorflow.

python tests/graph/programs/make_draw_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from draw_programs import PROGRAMS, values_of

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program twice in a session."""
    answers = {function.__name__: values_of(tf, function) for function in PROGRAMS}
    path = Path(__file__).with_name("draw_programs.json")
    path.write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
