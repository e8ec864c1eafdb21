"""Writes reference_programs.json: what TensorFlow gives for them. Needs tensorflow.

python tests/graph/programs/make_reference_programs.py
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from reference_programs import PAIRS, PROGRAMS, key, outcome

tf.disable_v2_behavior()


def main() -> None:
    """Runs every program twice, as what depends on the order of threads has no place here."""
    runs = [
        {
            **{key(read, write): outcome(tf, read, write) for read, write in PAIRS},
            **{function.__name__: function(tf) for function in PROGRAMS},
        }
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    path = Path(__file__).with_name("reference_programs.json")
    path.write_text(json.dumps(runs[0], indent=0) + "\n")


if __name__ == "__main__":
    main()
