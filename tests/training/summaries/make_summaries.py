"""Writes summaries.json: the summaries of summary_programs.py as TensorFlow makes them.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/summaries/make_summaries.py

Images are kept as pixels, since PNG files of one image may differ; all else byte by byte.
"""

import base64
import json
import sys
from pathlib import Path

import summary_programs as programs
import tensorflow.compat.v1 as tf


def recorded(content: bytes) -> dict:
    """A Summary with its images taken out, and these decoded."""
    summary = tf.Summary.FromString(content)
    pixels = []
    for value in summary.value:
        if value.WhichOneof("value") == "image":
            with tf.Graph().as_default(), tf.Session() as session:
                png = tf.image.decode_png(value.image.encoded_image_string)
                pixels.append(session.run(png).tolist())
            value.image.ClearField("encoded_image_string")
    text = base64.b64encode(summary.SerializeToString(deterministic=True)).decode()
    return {"summary": text, "pixels": pixels}


def main() -> None:
    """Records every program."""
    tf.disable_v2_behavior()
    rows = {"summaries": {}, "names": {}, "refusals": {}}
    for name, expression in programs.SUMMARIES.items():
        with tf.Graph().as_default(), tf.Session() as session:
            rows["summaries"][name] = recorded(session.run(programs.build(tf, expression)))
    for name, expression in programs.NAMES.items():
        with tf.Graph().as_default():
            rows["names"][name] = repr(programs.build(tf, expression))
    for name, expression in programs.REFUSALS.items():
        with tf.Graph().as_default():
            rows["refusals"][name] = programs.refusal(tf, expression)
    target = Path(__file__).with_name("summaries.json")
    target.write_text(json.dumps(rows, indent=1) + "\n")
    sys.stdout.write(f"{target}: {sum(map(len, rows.values()))} rows\n")


if __name__ == "__main__":
    main()
