"""Records what TensorFlow 2.21 makes of column_programs.py: columns.json.

.venv-tensorflow/bin/python tests/training/make_columns.py
"""

import json
import tempfile
from pathlib import Path

import tensorflow.compat.v1 as tf
from column_programs import ERRORS, VALUES, outcome

tf.disable_v2_behavior()
with tempfile.TemporaryDirectory() as folder:
    recorded = {x: outcome(tf, x, Path(folder)) for x in (*VALUES, *ERRORS)}
Path(__file__).with_name("columns.json").write_text(json.dumps(recorded, indent=0) + "\n")
