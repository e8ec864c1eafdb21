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
        ("adagrad", "tf.train.AdagradOptimizer(0.3)"),
        (
            "adagrad_da",
            "tf.train.AdagradDAOptimizer(0.3, tf.train.get_global_step(), 0.2, 0.01, 0.02)",
        ),
        ("adadelta", "tf.train.AdadeltaOptimizer(1.0, 0.9, 1e-3)"),
        ("rms_prop", "tf.train.RMSPropOptimizer(0.02, 0.8, 0.5, 1e-3)"),
        ("centered", "tf.train.RMSPropOptimizer(0.02, 0.8, 0.5, 1e-3, centered=True)"),
        ("ftrl_power", "tf.train.FtrlOptimizer(0.3, -0.7, 0.2, 0.05, 0.1, beta=0.3)"),
        (
            "ftrl_shrinkage",
            "tf.train.FtrlOptimizer(0.3, l2_shrinkage_regularization_strength=0.1)",
        ),
        ("proximal", "tf.train.ProximalGradientDescentOptimizer(0.1, 0.1, 0.2)"),
        ("proximal_adagrad", "tf.train.ProximalAdagradOptimizer(0.3, 0.2, 0.1, 0.2)"),
    )
    for kind, sparse in (("dense", False), ("sparse", True))
    for variable, resource in (("ref", False), ("resource", True))
]

if __name__ == "__main__":
    import tensorflow.compat.v1 as tf

    recorded = {}
    for row in ROWS:
        data, _, _ = trajectory(tf, row)
        recorded |= {f"{row['id']}:{key}": data[key] for key in data if key.startswith("step10")}
    np.savez_compressed(GOLDENS, **recorded)
