"""Writes exchange_programs.json and corner_programs.json with TensorFlow and tf_keras.

TF_USE_LEGACY_KERAS=1 python -m tests.graph.programs.make_exchange_programs
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf

from . import corner_programs, exchange_programs

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program in a graph of its own."""
    for module in (exchange_programs, corner_programs):
        recorded = {}
        for function in module.PROGRAMS:
            with tf.Graph().as_default():
                recorded[function.__name__] = function(tf)
        path = Path(module.__file__).with_suffix(".json")
        path.write_text(json.dumps(recorded, indent=0) + "\n")


if __name__ == "__main__":
    main()
