"""Training: optimizers, learning rates, checkpoints. `flatlite.train` has the public names."""
