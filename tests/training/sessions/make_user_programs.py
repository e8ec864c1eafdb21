"""Writes user_programs.json: what TensorFlow gives for user_programs.py. Needs tf_keras, too.

TF_USE_LEGACY_KERAS=1 python tests/training/sessions/make_user_programs.py
"""

import json
import os
import tempfile
from pathlib import Path

import tensorflow.compat.v1 as tf
from user_programs import PROGRAMS, results_of

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program once, each in an empty folder."""
    path = Path(__file__).resolve().with_name("user_programs.json")
    recorded = {}
    for function in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            recorded[function.__name__] = results_of(tf, function)
    path.write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    main()
