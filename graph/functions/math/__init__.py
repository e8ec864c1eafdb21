"""Arithmetic, reductions, segments, sets, order: `tf.math`."""
