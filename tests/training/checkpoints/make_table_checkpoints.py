"""Writes table_checkpoints/: tables that TensorFlow saved. Needs tensorflow.

python tests/training/checkpoints/make_table_checkpoints.py
"""

import json
import shutil
from pathlib import Path

import table_programs as programs
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
FOLDER = Path(__file__).with_name("table_checkpoints")


def main() -> None:
    """Saves the tables by both savers and as objects; what is left in a table after changes."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    with tf.Graph().as_default(), tf.Session() as session:
        words, rows = programs.tables(tf)
        programs.fill(tf, session, words, rows)
        programs.save(tf, session, words, rows, str(FOLDER))
        saved = programs.contents(tf, session, words, rows)
        programs.disturb(tf, session, words, rows)
        disturbed = programs.contents(tf, session, words, rows)
    recorded = {
        "tensorflow": tf.__version__,
        "saved": saved,
        "disturbed": disturbed,
        "operations": programs.names_of_operations(tf),
        "refusal": programs.refusal(tf),
    }
    (FOLDER / "checkpoint").unlink()
    text = json.dumps(recorded, indent=0, default=lambda value: value.decode())
    (FOLDER / "recorded.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
