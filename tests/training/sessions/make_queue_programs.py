"""Writes queue_programs.json: what TensorFlow gives for queue_programs.py. Needs tensorflow.

python tests/training/sessions/make_queue_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from queue_programs import PIPELINES, PROGRAMS, produced

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program once."""
    results = {function.__name__: function(tf) for function in PROGRAMS}
    for name, build in PIPELINES.items():
        results[name] = produced(tf, lambda build=build: build(tf))
    path = Path(__file__).with_name("queue_programs.json")
    path.write_text(json.dumps(results, indent=0) + "\n")


if __name__ == "__main__":
    main()
