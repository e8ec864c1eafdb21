"""Writes gru_goldens.npz: what TensorFlow's GRUBlockCell gives over sequences.

    python tests/interpreter/make_gru_goldens.py

Needs TensorFlow. Its cell has the formula of LiteRT's UnidirectionalSequenceGru, with transposed
weights.
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

SIZES = [  # time, batch, inputs, outputs, how large numbers are
    (1, 1, 1, 1, 1.0),
    (5, 1, 3, 4, 1.0),
    (2, 2, 2, 3, 0.5),
    (7, 3, 1, 8, 2.0),
    (4, 2, 9, 1, 1.0),
    (12, 4, 5, 6, 0.1),
    (6, 2, 4, 17, 1.0),
    (3, 1, 2, 3, 40.0),  # gates that are 0 or 1
    (3, 2, 2, 3, 1e-6),
]


def main():
    random, arrays = np.random.default_rng(5), {}
    for case, (n_time, n_batch, n_input, n, scale) in enumerate(SIZES):
        shapes = (
            *((n_time, n_batch, n_input), (n_batch, n)),
            *((2 * n, n_input + n), (2 * n,), (n, n_input + n), (n,)),
        )
        inputs = [(random.normal(size=s) * scale).astype(np.float32) for s in shapes]
        x, state, gate, gate_bias, candidate, candidate_bias = inputs
        states = []
        for step in x:
            state = tf.raw_ops.GRUBlockCell(
                x=step, h_prev=state, w_ru=gate.T, w_c=candidate.T, b_ru=gate_bias,
                b_c=candidate_bias,
            ).h  # fmt: skip
            states.append(state.numpy())
        arrays.update((f"{case}:in:{i}", array) for i, array in enumerate(inputs))
        arrays[f"{case}:out"] = np.array(states)
    np.savez_compressed(Path(__file__).parent / "gru_goldens.npz", **arrays)


if __name__ == "__main__":
    main()
