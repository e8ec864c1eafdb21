"""Writes rnn_programs.json: what TensorFlow gives for rnn_programs.py. Needs tensorflow.

python tests/training/make_rnn_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from rnn_programs import PROGRAMS, refusals, values_of

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program once."""
    answers = {function.__name__: values_of(tf, function) for function in PROGRAMS}
    answers["refusals"] = refusals(tf)
    path = Path(__file__).with_name("rnn_programs.json")
    path.write_text(json.dumps(answers, indent=0) + "\n")


if __name__ == "__main__":
    main()
