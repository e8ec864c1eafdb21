"""Writes datasets.json and iterators.json: what TensorFlow gives for the programs beside it.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/data/make_datasets.py
"""

# pyright: reportMissingImports=false
import json
import tempfile
from pathlib import Path

import dataset_programs as programs
import iterator_programs as iterators
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
with tempfile.TemporaryDirectory() as folder:
    programs.write_files(folder, tf)
    recorded = {
        text: programs.outcome(tf, text, folder)
        for group in programs.GROUPS
        for text in programs.expressions(group)
    }
rows = ",\n".join(f"{json.dumps(text)}: {json.dumps(row)}" for text, row in recorded.items())
Path(__file__).with_name("datasets.json").write_text(f"{{\n{rows}\n}}\n")
programs_of = {}
for program in iterators.PROGRAMS:
    with tf.Graph().as_default():
        programs_of[program.__name__] = program(tf)
rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in programs_of.items())
Path(__file__).with_name("iterators.json").write_text(f"{{\n{rows}\n}}\n")
