"""Writes exchange_programs.json: what TensorFlow gives for them. Needs tensorflow.

python tests/graph/programs/make_exchange_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from exchange_programs import PROGRAMS

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program in a graph of its own."""
    recorded = {}
    for function in PROGRAMS:
        with tf.Graph().as_default():
            recorded[function.__name__] = function(tf)
    path = Path(__file__).with_name("exchange_programs.json")
    path.write_text(json.dumps(recorded, indent=0) + "\n")


if __name__ == "__main__":
    main()
