"""Writes message_calls.json: what TensorFlow gives for the calls of message_calls.py.

python tests/graph/programs/make_message_calls.py    (with TensorFlow)
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from message_calls import CALLS, answer

tf.disable_eager_execution()
LINES = (f"{json.dumps(call)}: {json.dumps(answer(tf, call))}" for call in CALLS)
Path(__file__).with_suffix("").with_name("message_calls.json").write_text(
    "{\n" + ",\n".join(LINES) + "\n}\n"
)
