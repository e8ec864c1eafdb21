"""Writes TensorFlow's errors into call_errors.json, for each call that it has.

Needs tensorflow and tf_keras:

TF_USE_LEGACY_KERAS=1 python tests/graph/expressions/make_call_errors.py

A new call is written there as `"call": []` first.
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from call_errors import refused

tf.disable_v2_behavior()


def main() -> None:
    """Asks for every call once."""
    path = Path(__file__).with_name("call_errors.json")
    rows = {call: refused(tf, call) for call in json.loads(path.read_text())}
    lines = (f"{json.dumps(call)}: {json.dumps(answer)}" for call, answer in rows.items())
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main()
