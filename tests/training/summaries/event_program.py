"""Writes summaries of all kinds to the folder that is named, and prints the file's name.

    python tests/training/summaries/event_program.py FOLDER

`kill` behind it lets the process end itself at once, without closing anything.
"""

import os
import signal
import sys
from pathlib import Path

import numpy as np

import flatlite.compat.v1 as tf


def write(folder: str, is_killed: bool) -> None:
    """A graph, three steps of five summaries, times of a run, and a log."""
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.placeholder(tf.float32, [], "step")
        wave = tf.sin(tf.range(4000.0) * (0.05 + 0.01 * step))
        ramp = tf.linspace(0.0, 1.0, 32)
        picture = tf.stack([tf.tile(ramp[:, None], [1, 32]), tf.tile(ramp[None], [32, 1]),
                            tf.fill([32, 32], step / 3.0)], -1)  # fmt: skip
        tf.summary.scalar("loss", tf.exp(-step))
        tf.summary.histogram("weights", wave * (step + 1.0))
        tf.summary.image("picture", picture[None], max_outputs=1)
        tf.summary.audio("wave", wave[None], 4000, max_outputs=1)
        tf.summary.text("note", tf.strings.join(["step ", tf.as_string(step, precision=0)]))
        merged = tf.summary.merge_all()
        writer = tf.summary.FileWriter(folder, session.graph)
        writer.add_session_log(tf.SessionLog(status=1), 0)
        for number in range(3):
            options, metadata = tf.RunOptions(trace_level=3), tf.RunMetadata()
            summary = session.run(merged, {step: np.float32(number)}, options, metadata)
            writer.add_summary(summary, number)
            writer.add_run_metadata(metadata, f"run {number}", number)
        sys.stdout.write(f"{next(Path(folder).glob('events*'))}\n")
        sys.stdout.flush()
        if is_killed:
            os.kill(os.getpid(), signal.SIGKILL)
        writer.close()


if __name__ == "__main__":
    write(sys.argv[1], "kill" in sys.argv[2:])
