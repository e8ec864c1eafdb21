"""Writes what TensorFlow's BlockLSTM computes with the weights of `separate_gates`.

python tests/graph/programs/make_separate_gates.py    (with TensorFlow)
"""

from pathlib import Path

import numpy as np
import tensorflow as tf

STEPS, BATCH, DEPTH, UNITS = 5, 2, 3, 4
GATES = ("input", "cell", "forget", "output")  # BlockLSTM's order


def weights() -> dict[str, np.ndarray]:
    """Variables of a TFLiteLSTMCell with peepholes, and inputs."""
    random = np.random.RandomState(3)
    arrays: dict[str, np.ndarray] = {"x": random.randn(STEPS, BATCH, DEPTH)}
    for gate in GATES:
        arrays[f"input_to_{gate}_w"] = random.randn(UNITS, DEPTH)
        arrays[f"cell_to_{gate}_w"] = random.randn(UNITS, UNITS)
        arrays[f"{gate}_bias"] = random.randn(UNITS)
    for gate in "ifo":
        arrays[f"w_{gate}_diag"] = random.randn(UNITS)
    return {name: array.astype(np.float32) for name, array in arrays.items()}


def main() -> None:
    """Writes the arrays and the results with and without peepholes and clipping."""
    arrays = weights()
    zeros = np.zeros((BATCH, UNITS), np.float32)
    kernel = np.concatenate(
        [
            np.concatenate([arrays[f"input_to_{gate}_w"].T, arrays[f"cell_to_{gate}_w"].T])
            for gate in GATES
        ],
        axis=1,
    )
    bias = np.concatenate([arrays[f"{gate}_bias"] for gate in GATES])
    for key, clip, use_peepholes in (("plain", -1.0, False), ("peepholes", 0.5, True)):
        results = tf.raw_ops.BlockLSTM(
            seq_len_max=np.int64(STEPS), x=arrays["x"], cs_prev=zeros, h_prev=zeros, w=kernel,
            wci=arrays["w_i_diag"], wcf=arrays["w_f_diag"], wco=arrays["w_o_diag"], b=bias,
            forget_bias=0.0, cell_clip=clip, use_peephole=use_peepholes,
        )  # fmt: skip
        arrays |= {f"{key}_h": results.h.numpy(), f"{key}_c": results.cs[-1].numpy()}
    np.savez_compressed(Path(__file__).with_name("separate_gates.npz"), **arrays)


if __name__ == "__main__":
    main()
