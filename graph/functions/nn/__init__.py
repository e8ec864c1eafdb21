"""Layers' functions, losses and metrics: `tf.nn`, `tf.losses`, `tf.metrics`."""
