"""Distributions, their densities and draws: `tf.distributions`."""
