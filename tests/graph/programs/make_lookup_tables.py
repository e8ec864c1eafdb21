"""Writes lookup_tables.json: what TensorFlow makes of lookup_programs.py. Needs tensorflow.

python tests/graph/programs/make_lookup_tables.py
"""

import json
import tempfile
from pathlib import Path

import lookup_programs as programs
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()

with tempfile.TemporaryDirectory() as folder:
    path = programs.vocabulary_file(folder)
    recorded = {
        "values": {p.__name__: programs.value_of(tf, p, path) for p in programs.VALUES},
        "errors": {name: programs.error_of(tf, p, path) for name, p in programs.ERRORS.items()},
    }
target = Path(__file__).with_name("lookup_tables.json")
target.write_text(json.dumps(recorded, indent=0) + "\n")
