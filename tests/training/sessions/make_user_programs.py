"""Writes what TensorFlow gives for the programs beside it. Needs tf_keras, too.

TF_USE_LEGACY_KERAS=1 python tests/training/sessions/make_user_programs.py               all
TF_USE_LEGACY_KERAS=1 python tests/training/sessions/make_user_programs.py kept_programs
"""

import json
import os
import sys
import tempfile
from importlib import import_module
from pathlib import Path

import tensorflow.compat.v1 as tf
from user_programs import results_of

tf.disable_v2_behavior()


def main(names: list[str]) -> None:
    """Runs every program of these modules once, each in an empty folder."""
    here = Path(__file__).resolve().parent
    for name in names:
        recorded = {}
        for function in import_module(name).PROGRAMS:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                recorded[function.__name__] = results_of(tf, function)
        (here / f"{name}.json").write_text(json.dumps(recorded) + "\n")


if __name__ == "__main__":
    modules = ("user", "input", "kept", "model", "paper", "pipeline")
    main(sys.argv[1:] or [f"{name}_programs" for name in modules])
