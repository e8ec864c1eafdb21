"""Writes ragged_calls.json: what TensorFlow gives for the calls of ragged_calls.py.

python tests/graph/programs/make_ragged_calls.py    (with TensorFlow)
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from ragged_calls import CALLS, answer

tf.disable_v2_behavior()
LINES = (f"{json.dumps(call)}: {json.dumps(answer(tf, call))}" for call in CALLS)
Path(__file__).with_name("ragged_calls.json").write_text("{\n" + ",\n".join(LINES) + "\n}\n")
