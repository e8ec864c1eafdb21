"""Writes trajectories.npz: TensorFlow's steps for optimizers that the corpus has no rows of.

Run it in an environment with TensorFlow, which the tests themselves do without:

    python tests/training/make_trajectories.py
"""

from pathlib import Path

import numpy as np
from trajectory import trajectory

GOLDENS = Path(__file__).with_name("trajectories.npz")
ROWS = [
    {"expr": expr, "sparse": sparse, "resource": resource, "id": f"{name}_{kind}_{variable}"}
    for name, expr in (
        ("nesterov", "tf.train.MomentumOptimizer(0.05, 0.9, use_nesterov=True)"),
        ("adam", "tf.train.AdamOptimizer(0.1, beta1=0.5, beta2=0.9, epsilon=0.1)"),
    )
    for kind, sparse in (("dense", False), ("sparse", True))
    for variable, resource in (("ref", False), ("resource", True))
]

if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    found = {}
    for row in ROWS:
        data, _, _ = trajectory(tf, row)
        found |= {f"{row['id']}:{key}": data[key] for key in data if key.startswith("step10")}
    np.savez_compressed(GOLDENS, **found)
