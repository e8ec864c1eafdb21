"""Writes models/control: two small SavedModels with a loop and a branch, and TensorFlow's answers.

Run in an environment of its own with `pip install tensorflow-cpu`:

    python models/build_control.py

`loop` takes square roots by Newton's method until all of them are near enough, `branch` scales its
input down if it is too loud and else amplifies it. example.npz has inputs and TensorFlow's outputs.
"""

import shutil
from pathlib import Path

import numpy as np
import tensorflow as tf

HERE = Path(__file__).parent / "control"
VECTOR = tf.TensorSpec([None], tf.float32, "x")


class Loop(tf.Module):
    """Square roots, and how many turns it took."""

    @tf.function(input_signature=[VECTOR])
    def serve(self, x):
        """Newton's method for each element, its sign left out."""
        x = tf.abs(x)
        guess, turns = tf.ones_like(x), tf.constant(0)
        while tf.reduce_max(tf.abs(guess * guess - x)) > 1e-3:
            guess = 0.5 * (guess + x / guess)
            turns += 1
        return {"root": guess, "turns": turns}


class Branch(tf.Module):
    """An automatic gain."""

    @tf.function(input_signature=[VECTOR])
    def serve(self, x):
        """At most 1 in size, and never silent."""
        loudest = tf.reduce_max(tf.abs(x))
        if loudest > 1.0:
            y = x / loudest
        else:
            y = tf.tanh(4.0 * x)
        return {"y": y}


SAMPLES = {
    "loop": [np.float32([1, 2, 9, 0.25]), np.float32([100, 10000])],
    "branch": [np.float32([0.1, -0.2, 0.3]), np.float32([4, -8, 2, 1])],
}


def main() -> None:
    """Saves, runs, records."""
    shutil.rmtree(HERE, ignore_errors=True)
    recorded = {}
    for name, module in (("loop", Loop()), ("branch", Branch())):
        folder = HERE / name
        tf.saved_model.save(module, str(folder), signatures=module.serve)
        (folder / "fingerprint.pb").unlink(missing_ok=True)
        serve = tf.saved_model.load(str(folder)).signatures["serving_default"]
        for i, x in enumerate(SAMPLES[name]):
            recorded[f"{name}/{i}/x"] = x
            for key, value in serve(tf.constant(x)).items():
                recorded[f"{name}/{i}/{key}"] = value.numpy()
    np.savez(HERE / "example.npz", **recorded)


if __name__ == "__main__":
    main()
