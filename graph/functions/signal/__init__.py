"""Transforms and frames of signals: `tf.signal`."""
