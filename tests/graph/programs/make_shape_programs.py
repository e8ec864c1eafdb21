"""Writes shape_programs.json: what TensorFlow gives for shape_programs.py. Needs tensorflow.

python tests/graph/programs/make_shape_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from shape_programs import outcomes

tf.disable_v2_behavior()


def main() -> None:
    """Evaluates every expression."""
    path = Path(__file__).with_name("shape_programs.json")
    path.write_text(json.dumps(outcomes(tf), indent=0) + "\n")


if __name__ == "__main__":
    main()
