"""Writes text_edges.json: TensorFlow's answers for encodings, segments and joins of strings.

python tests/graph/make_text_edges.py     with TensorFlow 2.21
"""

import json
from pathlib import Path

import tensorflow.compat.v1 as tf
from text_edges import CASES, answer

results = {name: answer(tf, case) for name, case in CASES.items()}
Path(__file__).with_name("text_edges.json").write_text(json.dumps(results, indent=0) + "\n")
