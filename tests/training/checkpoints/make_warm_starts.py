"""Writes warm_start/: a checkpoint, and the variables TensorFlow lets begin with its values.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/checkpoints/make_warm_starts.py
"""

import json
import shutil
from pathlib import Path

from warm_start_programs import outcomes, write_source

FOLDER = Path(__file__).with_name("warm_start")


def main():
    import tensorflow.compat.v1 as tf

    tf.disable_v2_behavior()
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    write_source(tf, FOLDER)
    (FOLDER / "checkpoint").write_text('model_checkpoint_path: "source"\n')
    recorded = outcomes(tf, FOLDER)
    (FOLDER / "recorded.json").write_text(json.dumps(recorded, indent=1) + "\n")


if __name__ == "__main__":
    main()
