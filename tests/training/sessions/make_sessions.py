"""Writes sessions.json: what TensorFlow does in the programs of session_programs.py.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/sessions/make_sessions.py
"""

import json
import sys
import tempfile
from pathlib import Path

import session_programs as programs
import tensorflow.compat.v1 as tf


def main() -> None:
    """Records every program."""
    tf.disable_v2_behavior()
    rows = {"programs": {}, "refusals": {}}
    for program in programs.PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            rows["programs"][program.__name__] = program(tf, Path(folder))
    for name, expression in programs.REFUSALS.items():
        with tempfile.TemporaryDirectory() as folder:
            rows["refusals"][name] = programs.refusal(tf, expression, folder)
    target = Path(__file__).with_name("sessions.json")
    target.write_text(json.dumps(rows, indent=1) + "\n")
    sys.stdout.write(f"{target.name}: {sum(map(len, rows.values()))} rows\n")


if __name__ == "__main__":
    main()
