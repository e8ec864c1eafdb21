"""Writes tf1_programs.json: what TensorFlow makes of tf1_programs.py. Needs tensorflow.

python tests/graph/programs/make_tf1_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
import tf1_programs as programs

tf.disable_v2_behavior()


def main() -> None:
    """Runs everything once."""
    actual = {
        "tensorflow": tf.__version__,
        "graphs": {build.__name__: programs.graph_rows(tf, build) for build in programs.GRAPHS},
        "values": {name: programs.value_of(tf, make) for name, make in programs.VALUES.items()},
        "random": {
            name: [array.tolist() for array in programs.random_numbers(tf, make)]
            for name, make in programs.RANDOM.items()
        },
        "errors": {name: programs.error_of(tf, make) for name, make in programs.ERRORS.items()},
    }
    for name, (kind, message) in actual["errors"].items():
        lines = message.split("\n\nOriginal stack trace")[0].split("\n")
        if "{{node" in lines[-1]:
            lines = lines[-2:]
        actual["errors"][name] = [kind, "\n".join(lines)]
    path = Path(__file__).with_suffix("").with_name("tf1_programs.json")
    path.write_text(json.dumps(actual, indent=0) + "\n")


if __name__ == "__main__":
    main()
