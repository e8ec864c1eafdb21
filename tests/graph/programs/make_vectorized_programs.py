"""Writes what TensorFlow gives for the functions beside it, for one slice after the other.

python tests/graph/programs/make_vectorized_programs.py
"""

from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf
from vectorized_programs import FUNCTIONS

tf.disable_v2_behavior()


def results(name: str) -> list[np.ndarray]:
    """The results for each slice, on top of one another."""
    function, *elems = FUNCTIONS[name]
    n = len(tf.nest.flatten(elems)[0])
    rows = []
    for i in range(n):
        with tf.Graph().as_default(), tf.Session() as session:
            items = tf.nest.map_structure(lambda x, i=i: tf.constant(x[i]), elems)
            rows.append(session.run(tf.nest.flatten(function(tf, *items))))
    return [np.stack(parts) for parts in zip(*rows, strict=True)]


def main() -> None:
    """Records all functions."""
    recorded = {}
    for name in FUNCTIONS:
        for i, array in enumerate(results(name)):
            recorded[f"{name}/{i}"] = array.astype("S") if array.dtype == object else array
    np.savez_compressed(Path(__file__).with_name("vectorized_programs.npz"), **recorded)


if __name__ == "__main__":
    main()
